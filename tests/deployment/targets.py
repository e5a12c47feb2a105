"""What each kind of service, and each target of a proxy, adds to the table (R35, R37, R38)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

STEP_ROOT: Final = "https://step.example"
STEP_URL: Final = f"{STEP_ROOT}/charge"
CALLERS: Final = (
    "handler@other-project.iam.gserviceaccount.com",
    "workflow@example.com.other.iam.gserviceaccount.com",
)
ACTING: Final = "acting@other-project.iam.gserviceaccount.com"
"""The account as which builds or tasks act."""

_PLACE: Final = "projects/other-project/locations/europe-west3"

TARGETS: Final[Mapping[str, str]] = {
    "cloud-run-job": f"{_PLACE}/jobs/train",
    "cloud-build": f"{_PLACE}/triggers/nightly",
    "http": "https://endpoint.example/run?now",
    "cloud-tasks": f"{_PLACE}/queues/mails",
    "bigquery": _PLACE,
}
"""What an owner sets `TARGET` to; a workflow is the project's own."""


@dataclass(frozen=True)
class Kind:
    """What a kind adds.

    Attributes:
        accounts: What the project has accounts for, beside those that run and build the service.
        callers: Whose tokens let in: one of `accounts`, or an address.
        env: Variables of the service.
        roles: Account, role, what it is on, why, and the condition if there is one.
        given: Variables of the scripts' environment, which the owner sets.
        body: What the Cloud Scheduler job sends.
        settle: Seconds for which a call is left alone (R22).
    """

    accounts: Sequence[str] = ()
    callers: Sequence[str] = ()
    apis: Sequence[str] = ("cloudscheduler",)
    env: Mapping[str, str] = field(default_factory=dict)
    roles: Sequence[tuple[str, ...]] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    settle: float = 0
    has_job: bool = True
    has_workflow: bool = False


def kind(answers: Mapping[str, Any]) -> Kind:
    """What the answers' kind and target add."""
    if answers["kind"] == "step":
        return Kind(
            callers=CALLERS,
            apis=(),
            given={"CALLERS": ",".join(CALLERS)},
            has_job=False,
        )
    env = {
        "JOB_ID": answers["service"],
        "SCHEDULE": answers["schedule"],
        "TIME_ZONE": answers["time_zone"],
    }
    # App Engine knows its jobs without a token.
    callers = () if answers["auth"] == "app-engine" else ("caller",)
    called = Kind(accounts=callers, callers=callers, env=env)
    if answers["kind"] == "handler":
        return called
    return (
        _workflows(answers, called) if answers["target"] == "workflows" else _other(answers, called)
    )


def _workflows(answers: Mapping[str, Any], called: Kind) -> Kind:
    project, region, service = (answers[name] for name in ("gcp_project", "region", "service"))
    database = f"{service}-workflow"
    return replace(
        called,
        accounts=(*called.accounts, "workflow"),
        apis=(*called.apis, "firestore", "workflowexecutions", "workflows"),
        env={**called.env, "TARGET": f"projects/{project}/locations/{region}/workflows/{service}"},
        roles=(
            ("runner", "roles/workflows.invoker", "project", "starts executions"),
            ("runner", "roles/workflows.viewer", "project", "finds executions"),
            ("workflow", "roles/logging.logWriter", "project", "logs"),
            (
                "workflow",
                "roles/datastore.user",
                "project",
                "claims and records tokens, in this database only",
                f'resource.name == "projects/{project}/databases/{database}"',
            ),
        ),
        given={"STEP_URL": STEP_URL},
        body="{}",
        settle=30,
        has_workflow=True,
    )


_ACTS: Final = ("runner", "roles/iam.serviceAccountUser", f"account {ACTING}", "hands it over")
_ROLES: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    "cloud-run-job": (
        ("runner", "roles/run.jobsExecutorWithOverrides", "job train", "starts it with the token"),
        ("runner", "roles/run.viewer", "job train", "finds executions"),
    ),
    "cloud-build": (
        (
            "runner",
            "roles/cloudbuild.builds.editor",
            "project other-project",
            "starts and finds builds",
        ),
        _ACTS,
    ),
    "http": (),
    "cloud-tasks": (
        ("runner", "roles/cloudtasks.enqueuer", "queue mails", "adds tasks"),
        _ACTS,
    ),
    "bigquery": (("runner", "roles/bigquery.jobUser", "project other-project", "inserts jobs"),),
}
_APIS: Final = {"cloud-tasks": "cloudtasks", "bigquery": "bigquery"}
_BODIES: Final = {
    "cloud-build": '{"source": {"branchName": "main"}}',
    "cloud-tasks": '{"task": {"httpRequest": {"url": "https://HOST/PATH"}}}',
    "bigquery": '{"configuration": {"query": {"query": "SELECT 1", "useLegacySql": false}}}',
}


def _other(answers: Mapping[str, Any], called: Kind) -> Kind:
    name = answers["target"]
    target = {"TARGET": TARGETS[name]}
    acting = {"TARGET_ACCOUNT": ACTING} if _ACTS in _ROLES[name] else {}
    return replace(
        called,
        apis=(*called.apis, *([_APIS[name]] if name in _APIS else [])),
        env={**called.env, **target},
        roles=_ROLES[name],
        given=target | acting,
        body=_BODIES.get(name, "{}"),
        settle=30,
    )
