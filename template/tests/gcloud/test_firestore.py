"""Firestore keeps and deletes the records where the service writes them."""

from app.dedup.record import FIELDS
from app.dedup.stores import open_store
from app.settings import Settings
from tests.gcloud.conftest import Deploy


def test_its_fields_are_those_of_the_records_that_the_service_writes(deployed: Deploy) -> None:
    """R29."""
    done = deployed(store="firestore")
    url = Settings.from_environ(done.environment).run_store_url
    policies = [call for call in done.calls if " fields " in call.words and "update" in call.words]
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
    (role,) = [call for call in done.calls if call.flags.get("--role") == "roles/datastore.user"]
    database = done.flags("firestore databases create")["--database"]
    assert role.flags["--condition"].endswith(f'/databases/{database}"')
    assert role.flags["--member"] == f"serviceAccount:{done.account}"
