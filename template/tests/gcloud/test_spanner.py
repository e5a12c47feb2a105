"""Spanner keeps and deletes the records where the service writes them."""

from urllib.parse import parse_qs, urlsplit

from app.dedup.stores.spanner_schema import statements
from app.settings import Settings
from tests.gcloud.conftest import Deploy
from tests.support.gcloud import ROOT


def test_it_has_the_tables_that_the_service_writes(deployed: Deploy) -> None:
    """R29."""
    done = deployed(store="spanner")
    url = urlsplit(Settings.from_environ(done.environment).run_store_url)
    table = parse_qs(url.query)["table"][0]
    created = done.flags("spanner databases create")
    schema = (ROOT / created["--ddl-file"]).read_text()
    assert all(statement in schema for statement in statements(table).values())
    assert "ROW DELETION POLICY" in statements(table)[table]
    (call,) = [call for call in done.calls if call.words.startswith("spanner databases create")]
    assert url.path == f"/{created['--instance']}/{call.words.split()[-1]}"


def test_the_service_may_use_that_database_alone(deployed: Deploy) -> None:
    """R34."""
    done = deployed(store="spanner")
    role = done.flags("spanner databases add-iam-policy-binding")
    assert role["--role"] == "roles/spanner.databaseUser"
    assert role["--member"] == f"serviceAccount:{done.service.account}"
