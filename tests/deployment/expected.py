"""The one table of what has to be deployed for a set of answers (R05, R29-R34, R37, R38).

Whatever a project is deployed with is held against it, so that no two ways can drift apart.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tests.deployment import targets
from tests.rendering import ROOT, clean_environment

Answers = Mapping[str, Any]
"""All answers, as a project records them in `.copier-answers.yml`."""

COLLECTION: Final = "scheduler_runs"
CA_FILES: Final = {"cloud-run": "/secrets/runs/ca.pem", "app-engine": "/tmp/ca.pem"}  # noqa: S108 App Engine has no other place
"""Where a service finds the certificates to trust; App Engine lets it write in one folder."""

BASE_IMAGE: Final = "python313"
FUNCTION: Final = "handle_scheduled_job"


@dataclass(frozen=True)
class Role:
    """One role of one account, and why it has it.

    Attributes:
        account: `runner`, `caller`, `builder` or `workflow`, see `Deployment.accounts`; or the
            address of an account of another project.
        on: `project`, `service`, `database`, `bucket` or `secret NAME`; of what a proxy starts
            `project NAME`, `job NAME`, `queue NAME` or `account ADDRESS`.
        condition: IAM condition on the binding; `""` is none.
    """

    account: str
    role: str
    on: str
    reason: str = field(compare=False, default="")
    condition: str = ""


@dataclass(frozen=True)
class Service:
    """The Cloud Run service.

    Attributes:
        env: Environment variables with plain values.
        secrets: Environment variables, and files by their paths, that come from Secret Manager.
        timeout: Seconds (R32).
        platform_checks_caller: Cloud Run asks for `roles/run.invoker` (R33).
        function: Entry point of a function; `""` for a container of a Dockerfile.
        network: VPC network and subnet of its Direct VPC egress; empty for none.
    """

    name: str
    url: str
    account: str
    env: Mapping[str, str]
    timeout: int
    platform_checks_caller: bool
    function: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict)
    network: tuple[str, ...] = ()
    cpu: str = "1"
    memory: str = "512Mi"
    concurrency: int = 80
    max_instances: int = 10
    cpu_throttling: bool = False
    ingress: str = "all"


@dataclass(frozen=True)
class Connector:
    """A connector of Serverless VPC Access."""

    name: str
    network: str = "default"
    range: str = "10.8.0.0/28"
    min_instances: int = 2
    max_instances: int = 3


@dataclass(frozen=True)
class AppEngineService:
    """The App Engine service.

    Attributes:
        place: Where the project's app is: App Engine's name of the region.
        env: Environment variables with plain values.
        secrets: Environment variables, and files by their paths, that the service reads at its
            start.
        open_paths: What everybody may request (R33).
        automatic: Scales automatically, which ends a request after 600 s (R32).
        unauthorized: Whoever App Engine refuses gets a status, and no redirect to a login page.
    """

    name: str
    url: str
    account: str
    place: str
    env: Mapping[str, str]
    open_paths: frozenset[str]
    automatic: bool
    secrets: Mapping[str, str] = field(default_factory=dict)
    connector: Connector | None = None
    runtime: str = "python312"
    unauthorized: bool = True
    https_only: bool = True


@dataclass(frozen=True)
class Retries:
    """The retry settings of the Cloud Scheduler job (R31), in seconds."""

    retry_count: int
    min_backoff: float
    max_backoff: float
    max_doublings: int
    max_retry_duration: float


@dataclass(frozen=True)
class Job:
    """The Cloud Scheduler job.

    Attributes:
        uri: What it calls; below `service`, an App Engine service, if that is not empty.
        audience: Of its token; `""` if it sends none.
        account: Whose token it sends; see `Deployment.accounts`.
        deadline: Seconds.
        headers: Those of the scope (R05), and of the body.
    """

    name: str
    schedule: str
    time_zone: str
    uri: str
    audience: str
    account: str
    deadline: int
    headers: Mapping[str, str]
    retries: Retries
    service: str = ""
    body: str = ""
    method: str = "POST"


@dataclass(frozen=True)
class Firestore:
    """A Firestore database, of which `ttl_field` lets the records expire (R29).

    An index on a field that rises with time would be written at one place only.
    """

    database: str
    location: str
    collection: str = COLLECTION
    ttl_field: str = "expire_at"
    unindexed: frozenset[str] = frozenset({"expire_at", "lease_expires"})
    delete_protection: bool = True


@dataclass(frozen=True)
class Spanner:
    """A Spanner instance with one database, whose tables delete their rows (R29)."""

    instance: str
    display_name: str
    config: str
    database: str
    tables: frozenset[str] = frozenset({COLLECTION, f"{COLLECTION}_version"})
    edition: str = "STANDARD"
    processing_units: int = 100
    drop_protection: bool = True


@dataclass(frozen=True)
class Memorystore:
    """A Memorystore for Redis instance, and what the secrets say about it."""

    instance: str
    network: str = "default"
    tier: str = "STANDARD_HA"
    size_gb: int = 1
    version: str = "REDIS_7_2"
    auth: bool = True
    tls: str = "SERVER_AUTHENTICATION"
    maxmemory_policy: str = "noeviction"


Store = Firestore | Spanner | Memorystore


@dataclass(frozen=True)
class Workflow:
    """A workflow that a proxy starts, with records of its own (R37)."""

    name: str
    account: str
    env: Mapping[str, str]
    records: Firestore


@dataclass(frozen=True)
class Deployment:
    """Everything. `accounts` are service account ids by what they are for."""

    project: str
    region: str
    apis: frozenset[str]
    accounts: Mapping[str, str]
    roles: frozenset[Role]
    store: Store
    service: Service | AppEngineService
    job: Job | None
    workflow: Workflow | None = None

    def email(self, account: str) -> str:
        """The address of the account with that purpose."""
        return email(self.project, self.accounts[account])


def email(project: str, account_id: str) -> str:
    """The address of a service account; a domain-scoped project is written the other way round."""
    domain, _, name = project.rpartition(":")
    return f"{account_id}@{f'{name}.{domain}' if domain else name}.iam.gserviceaccount.com"


def fitted(service: str, purpose: str, limit: int) -> str:
    """`SERVICE-PURPOSE`, with a digest in place of a service name's end that does not fit."""
    name = f"{service}-{purpose}"
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(service.encode()).hexdigest()[:6]
    return f"{service[: limit - len(purpose) - 8]}-{digest}-{purpose}"


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
    store, store_apis, store_roles = _STORES[answers["store"]](service, project, region)
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
        secrets=_secrets(answers),
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
        secrets=_secrets(answers),
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


def _firestore(service: str, project: str, region: str) -> tuple[Store, set[str], list[Role]]:
    database = fitted(service, "runs", 63)
    return (
        Firestore(database, region),
        {"firestore.googleapis.com"},
        [
            Role(
                "runner",
                "roles/datastore.user",
                "project",
                "reads and writes records, in this database only",
                condition=f'resource.name == "projects/{project}/databases/{database}"',
            )
        ],
    )


def _spanner(service: str, project: str, region: str) -> tuple[Store, set[str], list[Role]]:
    return (
        Spanner(
            instance=fitted(service, "runs", 64),
            display_name=fitted(service, "runs", 30),
            config=f"regional-{region}",
            database="runs",
        ),
        {"spanner.googleapis.com"},
        [
            Role(
                "runner",
                "roles/spanner.databaseUser",
                "database",
                "reads and writes records, in this database only",
            )
        ],
    )


def _memorystore(service: str, project: str, region: str) -> tuple[Store, set[str], list[Role]]:
    reading = "reads how to reach the instance, password included"
    trusting = "reads which certificates to trust"
    accessor = "roles/secretmanager.secretAccessor"
    return (
        Memorystore(fitted(service, "runs", 40)),
        {f"{name}.googleapis.com" for name in ("compute", "redis", "secretmanager")},
        [
            Role("runner", accessor, f"secret {service}-run-store-url", reading),
            Role("runner", accessor, f"secret {service}-run-store-ca", trusting),
        ],
    )


_STORES: Final = {"firestore": _firestore, "spanner": _spanner, "memorystore": _memorystore}


def _secrets(answers: Answers) -> dict[str, str]:
    if answers["store"] != "memorystore":
        return {}
    service = answers["service"]
    return {
        "RUN_STORE_URL": f"{service}-run-store-url",
        ca_file(answers): f"{service}-run-store-ca",
    }


def ca_file(answers: Answers) -> str:
    """Where the service finds the certificates that it trusts."""
    return CA_FILES["app-engine" if answers["platform"] == "app-engine" else "cloud-run"]


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


def run_store_secret(host: str, port: int, password: str, ca_file: str) -> str:
    """The URL of a Memorystore instance, which a secret holds.

    The instance's certificates are signed by an authority of its own, so to trust that authority
    alone is enough; the name in them is not the address.
    """
    options = f"ssl_ca_certs={ca_file}&ssl_check_hostname=false"
    return f"rediss://:{password}@{host}:{port}?{options}"


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
