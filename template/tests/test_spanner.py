"""What only Spanner has: its statuses, its session, its versions, an emulator that hangs."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import grpc
import pytest
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import DefaultCredentialsError
from google.cloud.spanner_v1 import SpannerClient
from google.cloud.spanner_v1.services.spanner.transports.grpc import SpannerGrpcTransport

from app.dedup.clock import SYSTEM_CLOCK
from app.dedup.record import Status
from app.dedup.store import Claimed, Closed, Lost, Query, Run, StoreError, Terms
from app.dedup.stores import open_store, spanner
from app.dedup.stores.conditional import Unclear
from app.dedup.stores.spanner import SpannerStore
from app.dedup.stores.spanner_session import connect
from tests.support.clock import NOON
from tests.support.emulator import Emulator
from tests.support.faults import Kind
from tests.support.rpc import CODES, REFUSALS
from tests.support.steps import T, claimed, held
from tests.support.stores.spanner import DATABASE, TABLE, SpannerHarness


class TestSession:
    @pytest.mark.parametrize("code", CODES)
    def test_that_cannot_be_made_ends_in_an_answer_or_a_typed_error(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms, code: str
    ) -> None:
        """R25, R26; bug row 31: nothing can have been written without one."""
        store = spanner_harness.open()
        spanner_harness.sessions.code = code
        spanner_harness.sessions.plan = [Kind.LOST_REQUEST]
        if code in REFUSALS - {"ALREADY_EXISTS"}:
            with pytest.raises(StoreError, match="injected"):
                store.claim(run, "one", terms, timeout=T)
            assert spanner_harness.faults.calls == []
        else:
            claimed(store, run, "one", terms)
            assert spanner_harness.sessions.calls == ["session"] * 2
            assert spanner_harness.faults.calls == ["read", "write"]

    def test_is_made_once_by_many_threads(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        """Bug row 6: 32 threads, one cold store, no error."""
        store = spanner_harness.open()
        barrier = threading.Barrier(32)

        def claim(number: int) -> object:
            barrier.wait()
            return store.claim(replace(run, run_id=f"{number:064}"), "one", terms, timeout=T)

        with ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(claim, range(32)))
        assert {type(answer) for answer in answers} == {Claimed}
        assert spanner_harness.sessions.calls == ["session"]

    def test_that_spanner_has_ended_is_replaced(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        """R26: sessions live for weeks, and so may an instance."""
        client = connect()
        store = spanner_harness.open()
        others = {session.name for session in client.list_sessions(database=DATABASE)}
        claim = claimed(store, run, "one", terms).claim

        def end_session() -> None:
            (ours,) = {each.name for each in client.list_sessions(database=DATABASE)} - others
            client.delete_session(name=ours)

        end_session()
        held(store, run, "two", terms)
        end_session()
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None
        end_session()
        assert store.get(run.run_id, timeout=T) is not None
        assert spanner_harness.sessions.calls == ["session"] * 4
        client.transport.close()  # type: ignore[no-untyped-call]

    def test_is_made_anew_after_a_close(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        store = spanner_harness.open()
        claimed(store, run, "one", terms)
        store.close()
        held(store, run, "two", terms)
        assert spanner_harness.sessions.calls == ["session"] * 2


class TestVersion:
    def test_of_a_run_is_one_row_however_often_it_is_written(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        store = spanner_harness.open()
        claim = claimed(store, run, "one", terms).claim
        seen = set()
        for _ in range(3):
            store.renew(claim, timeout=T)
            (version,) = spanner_harness.versions(run.run_id)
            seen.add(version)
        assert len(seen) == 3

    def test_that_is_missing_is_made_by_one_of_its_takers(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        """R17: a taker that read it long ago does not take over what another has completed."""
        spanner_harness.plant(run.run_id, {"status": "in_progress", "lease_seconds": 0.0})
        store, other = spanner_harness.open(), spanner_harness.open()

        def overtake() -> None:
            claim = claimed(other, run, "two", terms).claim
            assert other.finish(claim, Status.COMPLETED, None, timeout=T) is None

        spanner_harness.faults.plan = [Kind.NONE, Kind.NONE, overtake]
        assert isinstance(store.claim(run, "one", terms, timeout=T), Closed)

    def test_that_a_person_deleted_is_made_anew(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        """R17: of a run taken from a person's hands too, where the empty version stays."""
        spanner_harness.plant(run.run_id, {"status": "in_progress", "lease_seconds": 0.0})
        store = spanner_harness.open()
        claim = claimed(store, run, "one", terms).claim
        empty, version = spanner_harness.versions(run.run_id)
        assert empty == ""
        spanner_harness.erase_version(run.run_id, version)
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None

    def test_protects_a_record_that_was_edited_as_the_schema_says(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        """R20: whoever still holds the run changes nothing of it."""
        store = spanner_harness.open()
        claim = claimed(store, run, "one", terms).claim
        spanner_harness.edit(run.run_id, {"status": "completed"})
        before = spanner_harness.raw(run.run_id)
        assert isinstance(store.release(claim, settle=None, timeout=T), Lost)
        assert isinstance(store.renew(claim, timeout=T), Lost)
        assert spanner_harness.raw(run.run_id) == before


class TestTime:
    def test_of_a_persons_record_is_when_it_was_added(
        self, spanner_harness: SpannerHarness, run: Run
    ) -> None:
        """R17: from there its hour counts where it has no lease."""
        spanner_harness.plant(run.run_id, {"status": "in_progress"})
        record = spanner_harness.open().get(run.run_id, timeout=T)
        assert record is not None
        assert 3590 < record.lease_left() <= 3600

    def test_of_a_claim_is_its_commit_timestamp(
        self, spanner_harness: SpannerHarness, run: Run, terms: Terms
    ) -> None:
        """R16."""
        store = spanner_harness.open()
        answer = claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.stamp == answer.claim.stamp
        assert answer.now == record.stamp.at
        assert record.read_at > answer.now


def test_missing_credentials_are_a_store_error(run: Run, terms: Terms) -> None:
    """R25: no traceback of the client's, and nothing is asked."""

    def fail() -> SpannerClient:
        raise DefaultCredentialsError("none found")  # type: ignore[no-untyped-call]

    store = SpannerStore(fail, DATABASE, TABLE, SYSTEM_CLOCK)
    with pytest.raises(StoreError, match="no credentials"):
        store.claim(run, "one", terms, timeout=T)


def test_client_asks_nobody_but_spanner(
    spanner_process: Emulator, monkeypatch: pytest.MonkeyPatch, run: Run, terms: Terms
) -> None:
    """No metrics are exported, and no metadata server is asked for their labels."""

    def credentials(**options: object) -> tuple[AnonymousCredentials, None]:
        return AnonymousCredentials(), None  # type: ignore[no-untyped-call]

    def channel(*host: object, **options: object) -> grpc.Channel:
        return grpc.insecure_channel(spanner_process.host)

    asked = threading.Event()
    monkeypatch.delenv("SPANNER_EMULATOR_HOST", raising=False)
    monkeypatch.setattr("google.auth.default", credentials)
    monkeypatch.setattr(SpannerGrpcTransport, "create_channel", channel)
    monkeypatch.setattr(
        "google.cloud.spanner_v1.metrics.spanner_metrics_tracer_factory._get_cloud_region",
        asked.set,
    )
    before = {*threading.enumerate()}
    store = SpannerStore(connect, DATABASE, TABLE, SYSTEM_CLOCK)
    claimed(store, replace(run, run_id="unmetered"), "one", terms)
    assert {thread.name for thread in {*threading.enumerate()} - before} <= {"Channel Spin"}
    assert not asked.is_set()
    store.close()


@pytest.mark.parametrize("cold", [False, True])
def test_store_that_hangs_is_given_up_in_time(
    spanner_process: Emulator,
    spanner_harness: SpannerHarness,
    run: Run,
    terms: Terms,
    cold: bool,
) -> None:
    """R26: never longer than its time, a last read, a second try and the giving back."""
    store = spanner_harness.open()
    if not cold:
        store.get(run.run_id, timeout=T)
    with spanner_process.hanging():
        began = time.monotonic()
        with pytest.raises(StoreError, match="Deadline"):
            store.claim(run, "one", terms, timeout=2.0)
        took = time.monotonic() - began
    asked_for, last_tries, given_back, machine = 2.0, 3 * 1.0, 2.0, 3.0
    assert took < asked_for + last_tries + given_back + machine
    # What hung may have been written since; it is this attempt's, or nobody's.
    assert isinstance(store.claim(run, "one", terms, timeout=T), Claimed)


def test_cold_store_that_hangs_keeps_no_thread_longer_than_its_own_time(
    spanner_process: Emulator, spanner_harness: SpannerHarness, run: Run
) -> None:
    """R26: threads do not add up their waiting for the one that makes the session."""
    store = spanner_harness.open()
    with spanner_process.hanging():
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(store.get, run.run_id, timeout=1.0) for _ in range(8)]
        took = time.monotonic() - began
    assert {type(each.exception()) for each in asked} == {Unclear}
    assert took < 4.0


@pytest.mark.parametrize(
    "url",
    [
        "spanner://",
        "spanner://p",
        "spanner://p/i",
        "spanner://p/i/",
        "spanner://p/i/d/x",
        "spanner:///i/d",
        "spanner://p//d",
        "spanner://p/i/D",
        "spanner://p/i/d%60",
        "spanner://p/i%2Fd",
        "spanner://p/i/d?table=",
        "spanner://p/i/d?table=1a",
        "spanner://p/i/d?table=a-b",
        "spanner://p/i/d?table=a%60b",
        "spanner://p/i/d?table=a.b",
        "spanner://p/i/d?table=a%0A",
        f"spanner://p/i/d?table={'a' * 121}",
        "spanner://p/i/d#x",
    ],
)
def test_malformed_url_is_refused_with_the_form(url: str) -> None:
    with pytest.raises(ValueError, match="expected spanner://PROJECT/INSTANCE/DATABASE"):
        open_store(url)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("tabel=runs", "no option tabel here; there are table"),
        ("table=a&table=b", "the option table is there twice"),
    ],
)
def test_option_that_is_unknown_or_there_twice_is_refused(query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_store(f"spanner://p/i/d?{query}")


@pytest.mark.parametrize("query", [Query(), Query(since=NOON), Query(job_name="nightly")])
def test_long_list_is_read_page_by_page(
    spanner_harness: SpannerHarness,
    run: Run,
    terms: Terms,
    monkeypatch: pytest.MonkeyPatch,
    query: Query,
) -> None:
    """R40: with nothing left out or listed twice where a page ends."""
    store = spanner_harness.open()
    expected = [f"{number:064}" for number in range(5)]
    for run_id in expected:
        claimed(store, replace(run, run_id=run_id), "one", terms)
    for size in (1, 2, 5):
        monkeypatch.setattr(spanner, "PAGE", size)
        spanner_harness.faults.calls.clear()
        assert [record.run_id for record in store.list(query, timeout=T)] == expected
        assert spanner_harness.faults.calls == ["read"] * (5 // size + 1)
