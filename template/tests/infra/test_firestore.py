"""Firestore keeps and deletes the records where the service writes them."""

from app.dedup.record import FIELDS
from app.dedup.stores import open_store
from tests.support.infra import blocks, plain


def test_its_fields_are_those_of_the_records_that_the_service_writes() -> None:
    """R29."""
    fields = blocks("store_firestore.tf", "google_firestore_field")
    assert {plain(field["field"]) for field in fields.values()} == {"expire_at", "lease_expires"}
    assert {plain(field["field"]) for field in fields.values()} <= set(FIELDS)
    assert "ttl_config" in fields["expire_at"]
    assert all("index_config" in field for field in fields.values())


def test_the_service_can_open_it() -> None:
    values = blocks("store_firestore.tf", "locals")
    fields = blocks("store_firestore.tf", "google_firestore_field")
    assert {field["collection"] for field in fields.values()} == {"${local.collection}"}
    url = plain(values["store_url"]).replace("${local.collection}", plain(values["collection"]))
    open_store(url.replace("${google_firestore_database.runs.name}", "runs")).close()
