"""A run that is named by a key and not by a schedule: its record keeps what came with the key."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.dedup.record import Status
from app.dedup.store import Claimed, Closed, Held, Mismatch, Run, Store, Terms
from tests.support.faults import Kind
from tests.support.steps import T, claimed, finished
from tests.support.stores import Harness, lossy

ONE, OTHER = "1" * 64, "2" * 64


@pytest.fixture
def keyed(run: Run) -> Run:
    """A run without a schedule time."""
    return replace(run, schedule_time=None, payload_sha256=ONE)


class TestRecord:
    def test_has_no_schedule_time_and_keeps_the_digest(
        self, store: Store, keyed: Run, terms: Terms
    ) -> None:
        claimed(store, keyed, "one", terms)
        record = store.get(keyed.run_id, timeout=T)
        assert record is not None
        assert (record.schedule_time, record.payload_sha256) == (None, ONE)

    def test_of_a_scheduled_run_has_no_digest(self, store: Store, run: Run, terms: Terms) -> None:
        claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.payload_sha256 is None

    def test_is_kept_for_the_retention_after_the_last_write(
        self, harness: Harness, store: Store, keyed: Run, terms: Terms
    ) -> None:
        """R29."""
        finished(store, claimed(store, keyed, "one", terms), '{"a": 1}')
        record = store.get(keyed.run_id, timeout=T)
        assert record is not None
        assert record.expire_at is not None
        left = record.expire_at - harness.now() - timedelta(seconds=terms.retention)
        assert abs(left) < timedelta(seconds=5)
        assert (record.status, record.result) == (Status.COMPLETED, {"a": 1})


class TestAnotherPayload:
    def test_is_refused_while_an_attempt_works_and_leaves_the_record_as_it_was(
        self, harness: Harness, store: Store, other: Store, keyed: Run, terms: Terms
    ) -> None:
        """R14."""
        claimed(store, keyed, "one", terms)
        before = harness.raw(keyed.run_id)
        answer = other.claim(replace(keyed, payload_sha256=OTHER), "two", terms, timeout=T)
        assert isinstance(answer, Mismatch)
        assert harness.raw(keyed.run_id) == before

    def test_is_refused_after_the_end(self, store: Store, keyed: Run, terms: Terms) -> None:
        finished(store, claimed(store, keyed, "one", terms))
        answer = store.claim(replace(keyed, payload_sha256=OTHER), "two", terms, timeout=T)
        assert isinstance(answer, Mismatch)

    def test_takes_no_dead_attempt_over(
        self, harness: Harness, store: Store, keyed: Run, short: Terms
    ) -> None:
        claimed(store, keyed, "one", short)
        harness.pass_time(1)
        before = harness.raw(keyed.run_id)
        answer = store.claim(replace(keyed, payload_sha256=OTHER), "two", short, timeout=T)
        assert isinstance(answer, Mismatch)
        assert harness.raw(keyed.run_id) == before

    def test_is_a_new_run_when_the_first_has_been_released(
        self, store: Store, keyed: Run, terms: Terms
    ) -> None:
        """R21: nothing is left of it."""
        answer = claimed(store, keyed, "one", terms)
        store.release(answer.claim, settle=None, timeout=T)
        claimed(store, replace(keyed, payload_sha256=OTHER), "two", terms)


class TestTheSamePayload:
    def test_is_a_duplicate(self, store: Store, keyed: Run, terms: Terms) -> None:
        answer = claimed(store, keyed, "one", terms)
        assert isinstance(store.claim(keyed, "two", terms, timeout=T), Held)
        finished(store, answer)
        assert isinstance(store.claim(keyed, "two", terms, timeout=T), Closed)

    def test_takes_a_dead_attempt_over(
        self, harness: Harness, store: Store, keyed: Run, short: Terms
    ) -> None:
        """R13."""
        claimed(store, keyed, "one", short)
        harness.pass_time(1)
        answer = store.claim(keyed, "two", short, timeout=T)
        assert isinstance(answer, Claimed)
        assert answer.claim.recovered

    def test_is_claimed_where_the_record_keeps_none(
        self, harness: Harness, store: Store, keyed: Run, short: Terms
    ) -> None:
        """R17: a record that another version or a person wrote."""
        claimed(store, replace(keyed, payload_sha256=None), "one", short)
        harness.pass_time(1)
        assert claimed(store, keyed, "two", short).claim.recovered
        record = store.get(keyed.run_id, timeout=T)
        assert record is not None
        assert record.payload_sha256 == ONE

    @lossy
    def test_is_ones_own_claim_whose_answer_was_lost(
        self, harness: Harness, store: Store, keyed: Run, terms: Terms
    ) -> None:
        """R15."""
        harness.faults.plan = [Kind.LOST_ANSWER]
        assert not claimed(store, keyed, "one", terms).claim.recovered
