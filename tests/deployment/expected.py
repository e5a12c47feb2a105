"""The one table of what has to be deployed for a set of answers (R05, R29-R34, R37, R38).

Whatever a project is deployed with is held against it, so that no two ways can drift apart.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from tests.deployment import targets
from tests.deployment.resources import (
    COLLECTION,
    Answers,
    AppEngineService,
    Connector,
    Deployment,
    Firestore,
    Job,
    Memorystore,
    Retries,
    Role,
    Service,
    Spanner,
    Store,
    Workflow,
    email,
    fitted,
)
from tests.deployment.stores import STORES, secrets_of
from tests.rendering import ROOT, clean_environment

BASE_IMAGE: Final = "python313"
FUNCTION: Final = "handle_scheduled_job"


def expected(answers: Answers, project_number: str) -> Deployment:
    """What has to be deployed for these answers."""
    service, project, region = answers["service"], answers["gcp_project"], answers["region"]
    on_app_engine = answers["platform"] == "app-engine"
    kind = targets.kind(answers)
    # App Engine builds as the account that the service runs as.
    purposes = ["runner", *kind.accounts, *([] if on_app_engine else ["builder"])]
    accounts = {purpose: fitted(service, purpose, 30) for purpose in purposes}
    callers = ",".join(
        email(project, accounts[name]) if name in accounts else name for name in kind.callers
    )
    url = (
        f"https://{service}-dot-{app_host(project)}"
        if on_app_engine
        else f"https://{service}-{project_number}.{region}.run.app"
    )
    store, store_apis, store_roles = STORES[answers["store"]](service, project, region)
    env = {**_env(answers, url, callers, store), **kind.env}
    return Deployment(
        project=project,
        region=region,
        apis=frozenset(f"{name}.googleapis.com" for name in (*_apis(answers), *kind.apis))
        | store_apis,
        accounts=accounts,
        roles=frozenset(
            [*_roles(answers, kind.callers), *store_roles, *(Role(*role) for role in kind.roles)]
        ),
        store=store,
        service=(_app_engine if on_app_engine else _cloud_run)(answers, url, env),
        job=_job(answers, url, kind.body) if kind.has_job else None,
        workflow=_workflow(answers) if kind.has_workflow else None,
    )


def app_host(project: str) -> str:
    """The address of a project's App Engine app, as Google made it up."""
    return f"{project.rpartition(':')[2]}.uc.r.appspot.com"


def app_bucket(project: str) -> str:
    """The bucket of a project's App Engine app into which deployments put the source."""
    return f"staging.{project.rpartition(':')[2]}.appspot.com"


def _cloud_run(answers: Answers, url: str, env: Mapping[str, str]) -> Service:
    return Service(
        name=answers["service"],
        url=url,
        account="runner",
        env={**env, "GOOGLE_CLOUD_PROJECT": answers["gcp_project"]},
        timeout=answers["attempt_deadline"],
        platform_checks_caller=answers["auth"] == "iam",
        function=FUNCTION if answers["platform"] == "cloud-run-functions" else "",
        secrets=secrets_of(answers),
        network=("default", "default") if answers["store"] == "memorystore" else (),
    )


def _app_engine(answers: Answers, url: str, env: Mapping[str, str]) -> AppEngineService:
    service, region = str(answers["service"]), str(answers["region"])
    return AppEngineService(
        name=service,
        url=url,
        account="runner",
        place={"us-central1": "us-central", "europe-west1": "europe-west"}.get(region, region),
        env={**env, "PYTHONUNBUFFERED": "1"},
        open_paths=frozenset({"/health"} | ({"/.*"} if answers["auth"] == "verify" else set())),
        automatic=answers["attempt_deadline"] <= 600,
        secrets=secrets_of(answers),
        connector=(
            Connector(fitted(service, "vpc", 25)) if answers["store"] == "memorystore" else None
        ),
    )


def retries(answers: Answers) -> Retries:
    """The retries that the project's own retry budget derives (R31)."""
    return _retries(
        answers["schedule"],
        answers["time_zone"],
        answers["attempt_deadline"],
        answers["lease"],
        targets.kind(answers).settle,
    )


@cache
def _retries(
    schedule: str, time_zone: str, attempt_deadline: int, lease: int, settle: float
) -> Retries:
    settings = {
        "SCHEDULE": schedule,
        "TIME_ZONE": time_zone,
        "ATTEMPT_DEADLINE_SECONDS": str(attempt_deadline),
        "LEASE_SECONDS": str(lease),
    }
    # The template's own folder is a handler.
    budget = f"import dev.budget as b; b.settle_time = lambda kind: {settle}; b.main(['--json'])"
    printed = subprocess.run(
        [sys.executable, "-c", budget],
        cwd=ROOT / "template",
        env=clean_environment() | settings,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    return Retries(**json.loads(printed))


def _apis(answers: Answers) -> list[str]:
    names = ["artifactregistry", "cloudbuild", "iam"]
    if answers["platform"] != "app-engine":
        return [*names, "run"]
    connected = ["vpcaccess"] if answers["store"] == "memorystore" else []
    return [*names, "appengine", *connected]


def _roles(answers: Answers, callers: Sequence[str]) -> list[Role]:
    if answers["platform"] == "app-engine":
        # App Engine builds as the account that the service runs as.
        writer = "roles/artifactregistry.createOnPushWriter"
        return [
            Role("runner", writer, "project", "stores the image"),
            Role("runner", "roles/logging.logWriter", "project", "writes the build's log"),
            Role("runner", "roles/storage.objectViewer", "bucket", "reads the source"),
        ]
    build = Role("builder", "roles/run.builder", "project", "builds the image and stores it")
    if answers["auth"] != "iam":
        return [build]
    calling = "calls the service, and no other one"
    return [build, *(Role(name, "roles/run.invoker", "service", calling) for name in callers)]


def _env(answers: Answers, url: str, callers: str, store: Store) -> dict[str, str]:
    """What deployment and code have to agree on is said to the service, not left to defaults."""
    project = answers["gcp_project"]
    env = {
        "SERVICE": answers["service"],
        "JOB_SCOPE": answers["job_scope"],
        "ATTEMPT_DEADLINE_SECONDS": str(answers["attempt_deadline"]),
        "LEASE_SECONDS": str(answers["lease"]),
        "RETENTION_SECONDS": str(answers["retention"] * 3600),
        "AUTH": answers["auth"],
    }
    if callers:
        env |= {"AUTH_AUDIENCE": url, "AUTH_SERVICE_ACCOUNT": callers}
    match store:
        case Firestore():
            place = f"firestore://{project}/{store.database}?collection={COLLECTION}"
            return env | {"RUN_STORE_URL": place}
        case Spanner():
            place = f"spanner://{project}/{store.instance}/{store.database}?table={COLLECTION}"
            return env | {"RUN_STORE_URL": place}
        case Memorystore():
            return env


def _workflow(answers: Answers) -> Workflow:
    database = fitted(answers["service"], "workflow", 63)
    return Workflow(
        name=answers["service"],
        account="workflow",
        env={
            "STEP_URL": targets.STEP_URL,
            "STEP_AUDIENCE": targets.STEP_ROOT,
            "DATABASE": database,
        },
        records=Firestore(
            database,
            answers["region"],
            collection="workflow_runs",
            unindexed=frozenset({"expire_at"}),
        ),
    )


def _job(answers: Answers, url: str, body: str) -> Job:
    project, region = answers["gcp_project"], answers["region"]
    service = answers["service"] if answers["auth"] == "app-engine" else ""
    root = "" if service else url
    uri, headers = f"{root}/", {}
    match answers["job_scope"]:
        case "header":
            headers = {"X-Job-Project": project, "X-Job-Location": region}
        case "query":
            uri = f"{root}/?project={project}&location={region}"
        case "path":
            uri = f"{root}/projects/{project}/locations/{region}"
    if body:
        headers |= {"Content-Type": "application/json"}
    return Job(
        name=answers["service"],
        schedule=answers["schedule"],
        time_zone=answers["time_zone"],
        uri=uri,
        audience="" if service else url,
        account="" if service else "caller",
        deadline=answers["attempt_deadline"],
        headers=headers,
        retries=retries(answers),
        service=service,
        body=body,
    )
