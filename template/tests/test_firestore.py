"""What only Firestore has: its statuses, its client, an emulator that hangs."""

import time
from dataclasses import replace

import pytest
from google.auth.exceptions import DefaultCredentialsError

from app.dedup.clock import SYSTEM_CLOCK, Clock
from app.dedup.store import Claim, Claimed, Query, Run, StoreError, Terms
from app.dedup.stores import firestore, open_store
from app.dedup.stores.firestore import FirestoreStore
from tests.support.clock import NOON
from tests.support.emulator import Emulator
from tests.support.faults import Kind
from tests.support.rpc import CODES, REFUSALS
from tests.support.steps import T, claimed
from tests.support.stores.firestore import FirestoreHarness, InterceptedClient


def test_renewal_that_changes_nothing_is_not_taken_for_one(
    firestore_harness: FirestoreHarness, run: Run, terms: Terms
) -> None:
    """R18: the document keeps its time then, and the lease would go on from there."""
    still = Clock(lambda: NOON, time.monotonic, time.sleep)
    store = FirestoreStore(
        lambda: InterceptedClient(firestore_harness.faults), firestore_harness.collection, still
    )
    claim = store.renew(claimed(store, run, "one", terms).claim, timeout=T)
    assert isinstance(claim, Claim)
    with pytest.raises(StoreError, match="left the record as it was"):
        store.renew(claim, timeout=T)


def test_client_is_made_by_the_first_call(run: Run, terms: Terms) -> None:
    """Weakness 26: not when the store is opened, which happens before a server forks."""
    made: list[str] = []

    def connect() -> None:
        made.append("a client")
        raise DefaultCredentialsError("none found")  # type: ignore[no-untyped-call]

    store = FirestoreStore(connect, "runs", SYSTEM_CLOCK)  # type: ignore[arg-type]
    assert made == []
    with pytest.raises(StoreError):
        store.claim(run, "one", terms, timeout=T)
    assert made == ["a client"]


def test_missing_credentials_are_a_store_error(run: Run, terms: Terms) -> None:
    """R25: no traceback of the client's, and nothing is asked."""

    def connect() -> None:
        raise DefaultCredentialsError("none found")  # type: ignore[no-untyped-call]

    store = FirestoreStore(connect, "runs", SYSTEM_CLOCK)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="no credentials"):
        store.claim(run, "one", terms, timeout=T)


def test_store_that_hangs_is_given_up_in_time(
    firestore_process: Emulator, firestore_harness: FirestoreHarness, run: Run, terms: Terms
) -> None:
    """R26: never longer than the operation's time and one call."""
    store = firestore_harness.open()
    store.get(run.run_id, timeout=T)
    with firestore_process.hanging():
        began = time.monotonic()
        with pytest.raises(StoreError, match="Deadline"):
            store.claim(run, "one", terms, timeout=2.0)
        took = time.monotonic() - began
    assert took < 2.0 + 8.0
    # What hung may have been written since; it is this attempt's, or nobody's.
    assert isinstance(store.claim(run, "one", terms, timeout=T), Claimed)


@pytest.mark.parametrize(
    "url",
    [
        "firestore://",
        "firestore:///(default)",
        "firestore://p/a/b",
        "firestore://p/d?collection=",
        "firestore://p/d?collection=a/b",
        "firestore://p/d#x",
    ],
)
def test_malformed_url_is_refused_with_the_form(url: str) -> None:
    with pytest.raises(ValueError, match="expected firestore://PROJECT/DATABASE"):
        open_store(url)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("tabel=runs", "no option tabel here; there are collection"),
        ("collection=a&collection=b", "the option collection is there twice"),
    ],
)
def test_option_that_is_unknown_or_there_twice_is_refused(query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_store(f"firestore://p/d?{query}")


def test_url_names_project_database_and_collection(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch, run: Run, terms: Terms
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    for database in ("", "/", "/(default)", "/%28default%29"):
        store = open_store(f"firestore://example.com:p{database}?collection=url-test")
        answer = store.claim(run, "one", terms, timeout=T)
        assert isinstance(answer, Claimed)
        store.close()


@pytest.mark.parametrize("query", [Query(), Query(since=NOON), Query(job_name="nightly")])
def test_long_list_is_read_page_by_page(
    firestore_harness: FirestoreHarness,
    run: Run,
    terms: Terms,
    monkeypatch: pytest.MonkeyPatch,
    query: Query,
) -> None:
    """R40: with nothing left out or listed twice where a page ends."""
    store = firestore_harness.open()
    expected = [f"{number:064}" for number in range(5)]
    for run_id in expected:
        claimed(store, replace(run, run_id=run_id), "one", terms)
    for size in (1, 2, 5):
        monkeypatch.setattr(firestore, "PAGE", size)
        firestore_harness.faults.calls.clear()
        assert sorted(record.run_id for record in store.list(query, timeout=T)) == expected
        assert firestore_harness.faults.calls == ["list"] * (5 // size + 1)


@pytest.mark.parametrize("code", CODES)
def test_each_status_of_a_list_is_asked_again_or_a_typed_error(
    firestore_harness: FirestoreHarness, run: Run, terms: Terms, code: str
) -> None:
    """Bug row 31."""
    store = firestore_harness.open()
    claimed(store, run, "one", terms)
    firestore_harness.faults.code = code
    firestore_harness.faults.plan = [Kind.LOST_REQUEST]
    if code in REFUSALS:
        with pytest.raises(StoreError, match="injected"):
            [*store.list(Query(), timeout=T)]
    else:
        assert len([*store.list(Query(), timeout=T)]) == 1
