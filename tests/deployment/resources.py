"""What a project deploys, as the tests compare it: whoever describes it, in the same shapes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Answers = Mapping[str, Any]
"""All answers, as a project records them in `.copier-answers.yml`."""

COLLECTION: Final = "scheduler_runs"
"""Name of the collection or table in which the records are."""


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
