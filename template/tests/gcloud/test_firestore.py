"""Firestore keeps and deletes the records where the service writes them."""

from urllib.parse import urlsplit

from app.dedup.record import FIELDS
from app.dedup.stores import open_store
from app.settings import Settings
from tests.gcloud.conftest import Deploy


def database_of(url: str) -> str:
    """Return the name of the database in which the records are."""
    return urlsplit(url).path.strip("/")


def test_its_fields_are_those_of_the_records_that_the_service_writes(deployed: Deploy) -> None:
    """R29."""
    done = deployed(store="firestore")
    url = Settings.from_environ(done.environment).run_store_url
    policies = [
        call
        for call in done.calls
        if " fields " in call.words
        and "update" in call.words
        and call.flags["--database"] == database_of(url)
    ]
    assert {call.words.split()[-1] for call in policies} == {"expire_at", "lease_expires"}
    assert {call.words.split()[-1] for call in policies} <= set(FIELDS)
    for call in policies:
        place = f"/{call.flags['--database']}?collection={call.flags['--collection-group']}"
        assert url.endswith(place)
    (expiring,) = [call for call in policies if "--enable-ttl" in call.flags]
    assert expiring.words.endswith(" expire_at")
    open_store(url).close()


def test_the_service_may_use_that_database_alone(deployed: Deploy) -> None:
    """R34."""
    done = deployed(store="firestore")
    account = f"serviceAccount:{done.service.account}"
    (role,) = [
        call
        for call in done.calls
        if call.flags.get("--role") == "roles/datastore.user" and call.flags["--member"] == account
    ]
    database = database_of(Settings.from_environ(done.environment).run_store_url)
    assert role.flags["--condition"].endswith(f'/databases/{database}"')
