"""What each store's records need: the store, APIs, roles, and the secrets that say where it is."""

from typing import Final

from tests.deployment.resources import (
    Answers,
    Firestore,
    Memorystore,
    Role,
    Spanner,
    Store,
    fitted,
)

CA_FILES: Final = {"cloud-run": "/secrets/runs/ca.pem", "app-engine": "/tmp/ca.pem"}  # noqa: S108 App Engine has no other place
"""Where a service finds the certificates to trust; App Engine lets it write in one folder."""


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


def secrets_of(answers: Answers) -> dict[str, str]:
    """Environment variables, and files by their paths, that come from Secret Manager."""
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


def run_store_secret(host: str, port: int, password: str, ca_file: str) -> str:
    """The URL of a Memorystore instance, which a secret holds.

    The instance's certificates are signed by an authority of its own, so to trust that authority
    alone is enough; the name in them is not the address.
    """
    options = f"ssl_ca_certs={ca_file}&ssl_check_hostname=false"
    return f"rediss://:{password}@{host}:{port}?{options}"


STORES: Final = {"firestore": _firestore, "spanner": _spanner, "memorystore": _memorystore}
"""What a store needs, for a service, project and region: itself, APIs and roles."""
