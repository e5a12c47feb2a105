"""Records as people handle them (R40): listed, and deleted only as they were read."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.dedup.record import Status
from app.dedup.store import Query, Run, Store, StoreError, Terms
from tests.support.clock import NOON
from tests.support.faults import Kind
from tests.support.steps import T, claimed, finished
from tests.support.stores import Harness, lossy

HOUR = timedelta(hours=1)


def run_ids(store: Store, query: Query) -> list[str]:
    return sorted(record.run_id[0] for record in store.list(query, timeout=T))


@pytest.fixture
def runs(store: Store, run: Run, terms: Terms) -> None:
    """Keep five runs: a, b and c of one job, an hour apart, and d and e of another."""
    for number, name in enumerate("abc"):
        answer = claimed(store, at(run, name, number), name, terms)
        if name != "c":
            finished(store, answer, '{"rows":1}')
    for name in "de":
        each = replace(at(run, name, 1), job_name="other")
        store.finish(claimed(store, each, name, terms).claim, Status.FAILED, None, timeout=T)


def at(run: Run, name: str, hours: int) -> Run:
    return replace(run, run_id=name * 64, schedule_time=NOON + hours * HOUR)


@pytest.mark.usefixtures("runs")
class TestList:
    def test_of_everything_has_each_record_once(self, store: Store) -> None:
        assert run_ids(store, Query()) == ["a", "b", "c", "d", "e"]

    def test_has_the_records_that_a_read_has(self, store: Store) -> None:
        for listed in store.list(Query(), timeout=T):
            read = store.get(listed.run_id, timeout=T)
            assert read is not None
            assert replace(read, read_at=listed.read_at) == listed
            assert abs(read.read_at - listed.read_at) < timedelta(seconds=T)

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            (Query(status=Status.COMPLETED), "ab"),
            (Query(status=Status.IN_PROGRESS), "c"),
            (Query(status=Status.FAILED), "de"),
            (Query(job_name="nightly"), "abc"),
            (Query(job_name="nobody"), ""),
            (Query(since=NOON + HOUR), "bcde"),
            (Query(until=NOON + HOUR), "a"),
            (Query(since=NOON, until=NOON + 2 * HOUR), "abde"),
            (Query(since=NOON + 3 * HOUR), ""),
            (Query(status=Status.COMPLETED, job_name="other"), ""),
            (Query(Status.COMPLETED, "nightly", NOON + HOUR, NOON + 2 * HOUR), "b"),
        ],
    )
    def test_is_restricted_by_status_job_and_time(
        self, store: Store, query: Query, expected: str
    ) -> None:
        assert run_ids(store, query) == [*expected]

    def test_has_the_records_of_other_hands_too(self, harness: Harness, store: Store) -> None:
        """R17: what cannot be read is no reason to hide it, unless a time is asked for."""
        harness.plant("x" * 64, {"status": "paused"})
        harness.plant("y" * 64, {"status": "completed", "schedule_time": "no time"})
        assert run_ids(store, Query())[-2:] == ["x", "y"]
        assert run_ids(store, Query(status=Status.COMPLETED)) == ["a", "b", "y"]
        assert run_ids(store, Query(since=NOON)) == ["a", "b", "c", "d", "e"]


def test_empty_store_has_no_records(store: Store) -> None:
    assert run_ids(store, Query()) == []


class TestGetMany:
    """R40: as many reads as there are keys, in few calls."""

    ABSENT = tuple(f"{number:064}" for number in range(700))

    @pytest.mark.usefixtures("runs")
    def test_has_the_records_that_are_there_as_a_read_has_them(self, store: Store) -> None:
        asked = [*self.ABSENT, *(name * 64 for name in "abcde")]
        found = {record.run_id: record for record in store.get_many(asked, timeout=T)}
        assert sorted(found) == asked[-5:]
        for run_id, record in found.items():
            read = store.get(run_id, timeout=T)
            assert read is not None
            assert replace(read, read_at=record.read_at) == record
            assert abs(read.read_at - record.read_at) < timedelta(seconds=T)

    def test_costs_a_call_for_some_hundred_keys(self, harness: Harness, store: Store) -> None:
        [*store.get_many(self.ABSENT, timeout=T)]
        assert len(harness.faults.calls) == 3

    def test_of_no_keys_asks_nothing(self, harness: Harness, store: Store) -> None:
        assert [*store.get_many([], timeout=T)] == []
        assert harness.faults.calls == []

    def test_has_the_records_of_other_hands_too(self, harness: Harness, store: Store) -> None:
        """R17."""
        harness.plant("x" * 64, {"status": "paused"})
        harness.plant("y" * 64, {"job_name": "no status"})
        found = store.get_many(["w" * 64, "x" * 64, "y" * 64], timeout=T)
        assert sorted((each.run_id[0], each.status) for each in found) == [("x", None), ("y", None)]

    def test_of_a_record_may_be_followed_by_its_deletion(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        claimed(store, run, "one", terms)
        (record,) = store.get_many([run.run_id], timeout=T)
        assert store.delete(record, timeout=T)
        assert harness.raw(run.run_id) is None


def test_long_list_costs_few_calls(harness: Harness, store: Store, run: Run, terms: Terms) -> None:
    """R40: on no store a call for each record."""
    for number in range(40):
        claimed(store, replace(run, run_id=f"{number:064}"), "one", terms)
    harness.faults.calls.clear()
    assert len([*store.list(Query(), timeout=T)]) == 40
    assert len(harness.faults.calls) <= 3


class TestDelete:
    def test_of_a_record_as_it_was_read_leaves_nothing(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        finished(store, claimed(store, run, "one", terms))
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert store.delete(record, timeout=T)
        assert harness.raw(run.run_id) is None
        assert not claimed(store, run, "two", terms).claim.recovered

    def test_of_a_listed_record_is_possible_too(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        claimed(store, run, "one", terms)
        (record,) = store.list(Query(), timeout=T)
        assert store.delete(record, timeout=T)
        assert harness.raw(run.run_id) is None

    def test_of_a_record_written_since_changes_nothing(
        self, harness: Harness, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """An attempt that has renewed its lease or finished meanwhile is not robbed."""
        claim = claimed(store, run, "one", terms).claim
        record = other.get(run.run_id, timeout=T)
        assert record is not None
        store.renew(claim, timeout=T)
        before = harness.raw(run.run_id)
        assert not other.delete(record, timeout=T)
        assert harness.raw(run.run_id) == before

    def test_of_a_record_edited_by_hand_since_changes_nothing(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        harness.edit(run.run_id, {"attempt_id": "two"})
        assert not store.delete(record, timeout=T)
        assert harness.raw(run.run_id) is not None

    def test_of_a_record_that_is_gone_is_told(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        harness.erase(run.run_id)
        assert not store.delete(record, timeout=T)

    def test_of_a_record_that_another_hand_wrote(self, harness: Harness, store: Store) -> None:
        """R17."""
        harness.plant("x" * 64, {"status": "paused"})
        record = store.get("x" * 64, timeout=T)
        assert record is not None
        assert store.delete(record, timeout=T)
        assert harness.raw("x" * 64) is None


@lossy
class TestLostAnswers:
    @pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
    @pytest.mark.parametrize("count", [1, 2])
    def test_to_a_delete_are_resolved(
        self, harness: Harness, store: Store, run: Run, terms: Terms, kind: Kind, count: int
    ) -> None:
        """R26."""
        for code in harness.codes:
            harness.faults.code = code
            claimed(store, run, "one", terms)
            record = store.get(run.run_id, timeout=T)
            assert record is not None
            harness.faults.plan = [kind] * count
            assert store.delete(record, timeout=T)
            assert harness.raw(run.run_id) is None

    @pytest.mark.usefixtures("runs")
    def test_to_a_list_are_asked_for_again(self, harness: Harness, store: Store) -> None:
        for code in harness.codes:
            harness.faults.code = code
            harness.faults.plan = [Kind.LOST_REQUEST, Kind.LOST_ANSWER]
            assert run_ids(store, Query()) == ["a", "b", "c", "d", "e"]

    @pytest.mark.usefixtures("runs")
    def test_to_a_read_of_many_are_asked_for_again(self, harness: Harness, store: Store) -> None:
        for code in harness.codes:
            harness.faults.code = code
            harness.faults.plan = [Kind.LOST_REQUEST, Kind.LOST_ANSWER]
            found = store.get_many([name * 64 for name in "abcdef"], timeout=T)
            assert sorted(record.run_id[0] for record in found) == ["a", "b", "c", "d", "e"]

    def test_without_end_are_the_stores_own_error(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R25."""
        claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        harness.faults.plan = [Kind.LOST_REQUEST] * 100
        with pytest.raises(StoreError, match="injected"):
            [*store.list(Query(), timeout=0.5)]
        with pytest.raises(StoreError, match="injected"):
            [*store.get_many([run.run_id], timeout=0.5)]
        with pytest.raises(StoreError, match="injected"):
            store.delete(record, timeout=0.5)


def test_store_that_is_in_use_needs_nothing_made(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    claimed(store, run, "one", terms)
    before = harness.raw(run.run_id)
    assert store.init(timeout=T) == []
    assert harness.raw(run.run_id) == before
