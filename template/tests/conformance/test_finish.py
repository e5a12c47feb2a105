"""The end of a claim: finished, released, or lost (R20-R26), on every store."""

from datetime import timedelta

import pytest

from app.dedup.record import Status
from app.dedup.store import Claim, Lost, Run, Store, Terms
from tests.support.clock import NOON
from tests.support.steps import T, claimed, finished, held
from tests.support.stores import Harness, movable


class TestFinish:
    @pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED])
    def test_makes_the_record_final(
        self, harness: Harness, store: Store, run: Run, terms: Terms, status: Status
    ) -> None:
        """R20, R23, R29."""
        claim = claimed(store, run, "one", terms).claim
        assert store.finish(claim, status, '{"a":1}', timeout=T) is None
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.status is status
        assert record.attempt_id == "one"
        assert record.result == {"a": 1}
        assert record.finished_at is not None
        assert abs(record.finished_at - harness.now()) < timedelta(seconds=5)
        assert record.expire_at is not None
        least = max(NOON, harness.now()) + timedelta(seconds=terms.retention - 5)
        assert record.expire_at > least

    @movable
    def test_keeps_the_record_for_the_retention_from_then_on(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R29; weakness 19."""
        claim = claimed(store, run, "one", terms).claim
        harness.pass_time(50.0)
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.expire_at == harness.now() + timedelta(seconds=terms.retention)

    def test_with_renewals_before_it_knows_the_last_version(
        self, store: Store, run: Run, terms: Terms
    ) -> None:
        """R20."""
        claim = claimed(store, run, "one", terms).claim
        for _ in range(3):
            answer = store.renew(claim, timeout=T)
            assert isinstance(answer, Claim)
            claim = answer
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None

    def test_from_before_a_renewal_is_still_ones_own(
        self, store: Store, run: Run, terms: Terms
    ) -> None:
        """R26: a renewal that was not waited for changes the version, not the owner."""
        claim = claimed(store, run, "one", terms).claim
        store.renew(claim, timeout=T)
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None

    def test_after_the_lease_is_over_still_counts_if_nobody_took_it(
        self, harness: Harness, store: Store, run: Run, short: Terms
    ) -> None:
        """R19: the store decides by attempt, not by time."""
        claim = claimed(store, run, "one", short).claim
        harness.pass_time(0.4)
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None

    @pytest.mark.parametrize("state", ["at work", "completed", "failed"])
    def test_after_a_takeover_changes_nothing_and_says_who_has_it(
        self,
        harness: Harness,
        store: Store,
        other: Store,
        run: Run,
        short: Terms,
        terms: Terms,
        state: str,
    ) -> None:
        """R24; bug row 17."""
        late = claimed(store, run, "one", short).claim
        harness.pass_time(0.4)
        claim = claimed(other, run, "two", terms).claim
        if state != "at work":
            other.finish(claim, Status(state), '{"by":"two"}', timeout=T)
        before = harness.raw(run.run_id)
        answer = store.finish(late, Status.COMPLETED, '{"by":"one"}', timeout=T)
        assert isinstance(answer, Lost)
        assert answer.record is not None
        assert answer.record.attempt_id == "two"
        assert harness.raw(run.run_id) == before

    def test_of_a_deleted_record_writes_none(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R24."""
        claim = claimed(store, run, "one", terms).claim
        harness.erase(run.run_id)
        assert store.finish(claim, Status.COMPLETED, None, timeout=T) == Lost(None)
        assert harness.raw(run.run_id) is None

    def test_never_changes_a_final_record(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R20: completed stays completed, for its own attempt too."""
        answer = claimed(store, run, "one", terms)
        finished(store, answer)
        before = harness.raw(run.run_id)
        assert isinstance(store.finish(answer.claim, Status.FAILED, None, timeout=T), Lost)
        assert harness.raw(run.run_id) == before


class TestRelease:
    def test_deletes_the_record_so_that_the_next_attempt_starts_clean(
        self, harness: Harness, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """R21."""
        claim = claimed(store, run, "one", terms).claim
        assert store.release(claim, settle=None, timeout=T) is None
        assert harness.raw(run.run_id) is None
        assert not claimed(other, run, "two", terms).claim.recovered

    def test_at_once_ends_the_lease_and_keeps_the_record(
        self, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """R21: after a takeover that failed, the next attempt has to know."""
        claim = claimed(store, run, "one", terms).claim
        assert store.release(claim, settle=0.0, timeout=T) is None
        assert claimed(other, run, "two", terms).claim.recovered

    def test_with_a_settle_time_makes_the_next_attempt_wait_for_it(
        self, harness: Harness, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """R22."""
        claim = claimed(store, run, "one", terms).claim
        assert store.release(claim, settle=0.5, timeout=T) is None
        assert held(other, run, "two", terms).lease_left <= 0.5
        harness.pass_time(0.6)
        assert claimed(other, run, "two", terms).claim.recovered

    @pytest.mark.parametrize("settle", [None, 0.0, 30.0])
    def test_after_a_takeover_is_a_no_op(
        self,
        harness: Harness,
        store: Store,
        other: Store,
        run: Run,
        short: Terms,
        terms: Terms,
        settle: float | None,
    ) -> None:
        """R19; bug rows 17 and 26."""
        late = claimed(store, run, "one", short).claim
        harness.pass_time(0.4)
        claimed(other, run, "two", terms)
        before = harness.raw(run.run_id)
        assert isinstance(store.release(late, settle=settle, timeout=T), Lost)
        assert harness.raw(run.run_id) == before

    def test_twice_is_a_no_op(self, harness: Harness, store: Store, run: Run, terms: Terms) -> None:
        """R21."""
        claim = claimed(store, run, "one", terms).claim
        store.release(claim, settle=None, timeout=T)
        assert store.release(claim, settle=None, timeout=T) == Lost(None)


class TestEditedRecord:
    """R26: a person's edit of a record that is still ours changes its version only."""

    def test_can_be_renewed(self, harness: Harness, store: Store, run: Run, terms: Terms) -> None:
        claim = claimed(store, run, "one", terms).claim
        harness.edit(run.run_id, {"job_name": "renamed"})
        assert isinstance(store.renew(claim, timeout=T), Claim)

    def test_can_be_finished(self, harness: Harness, store: Store, run: Run, terms: Terms) -> None:
        answer = claimed(store, run, "one", terms)
        harness.edit(run.run_id, {"job_name": "renamed"})
        finished(store, answer)

    @pytest.mark.parametrize("settle", [None, 0.0])
    def test_can_be_released(
        self, harness: Harness, store: Store, run: Run, terms: Terms, settle: float | None
    ) -> None:
        claim = claimed(store, run, "one", terms).claim
        harness.edit(run.run_id, {"job_name": "renamed"})
        assert store.release(claim, settle=settle, timeout=T) is None

    def test_given_to_somebody_else_is_lost(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        answer = claimed(store, run, "one", terms)
        harness.edit(run.run_id, {"attempt_id": "a person"})
        before = harness.raw(run.run_id)
        assert isinstance(store.finish(answer.claim, Status.COMPLETED, None, timeout=T), Lost)
        assert isinstance(store.release(answer.claim, settle=None, timeout=T), Lost)
        assert harness.raw(run.run_id) == before
