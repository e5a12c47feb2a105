"""Leases are judged by the store's clock and renewed only by their holder (R16, R18, R19)."""

from datetime import timedelta

import pytest

from app.dedup.record import Fields, Stamp
from app.dedup.store import Claim, Lost, Run, Store, StoreError, Terms
from app.dedup.stores.sqlite import SqliteStore
from tests.support.clock import NOON
from tests.support.steps import T, claimed, finished, held
from tests.support.stores import Harness
from tests.support.stores.sqlite import LossyStore, SqliteHarness

DAY = timedelta(days=1)


def renewed(store: Store, claim: Claim) -> Claim:
    answer = store.renew(claim, timeout=T)
    assert isinstance(answer, Claim), answer
    return answer


class IdleStore(LossyStore):
    """A store to which each write says what the record says already."""

    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        return stamp


class TestRenewal:
    def test_starts_the_lease_anew(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R18; bug row 20."""
        claim = claimed(store, run, "one", Terms(lease=0.6, retention=60.0)).claim
        for _ in range(3):
            harness.pass_time(0.3)
            claim = renewed(store, claim)
        assert held(store, run, "two", terms).lease_left > 0

    def test_changes_the_lease_and_nothing_else_that_counts(
        self, store: Store, run: Run, terms: Terms
    ) -> None:
        """R18."""
        claim = claimed(store, run, "one", terms).claim
        before = store.get(run.run_id, timeout=T)
        after_claim = renewed(store, claim)
        after = store.get(run.run_id, timeout=T)
        assert before is not None
        assert after is not None
        assert (after.status, after.attempt_id) == (before.status, before.attempt_id)
        assert after.lease_seconds == before.lease_seconds
        assert after_claim.fence == claim.fence
        assert after_claim.stamp.version != claim.stamp.version

    def test_that_changes_nothing_is_not_taken_for_one(
        self, run: Run, terms: Terms, conditional_harness: SqliteHarness
    ) -> None:
        """R18: to some stores that is no write, and the lease goes on from the last one."""
        clock = conditional_harness.clock()
        inner = SqliteStore(conditional_harness.path, clock)
        store = IdleStore(inner, clock, conditional_harness.faults)
        claim = claimed(store, run, "one", terms).claim
        with pytest.raises(StoreError, match="left the record as it was"):
            store.renew(claim, timeout=T)

    def test_after_a_takeover_is_refused_and_revives_nothing(
        self, harness: Harness, store: Store, other: Store, run: Run, short: Terms, terms: Terms
    ) -> None:
        """R19; bug rows 23 and 49."""
        late = claimed(store, run, "one", short).claim
        harness.pass_time(0.4)
        claimed(other, run, "two", terms)
        before = harness.raw(run.run_id)
        answer = store.renew(late, timeout=T)
        assert isinstance(answer, Lost)
        assert answer.record is not None
        assert answer.record.attempt_id == "two"
        assert harness.raw(run.run_id) == before

    def test_of_a_deleted_record_is_refused(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R19."""
        claim = claimed(store, run, "one", terms).claim
        harness.erase(run.run_id)
        assert store.renew(claim, timeout=T) == Lost(None)
        assert harness.raw(run.run_id) is None

    def test_of_a_completed_run_is_refused(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R20: a late renewal never opens a closed run."""
        answer = claimed(store, run, "one", terms)
        finished(store, answer)
        before = harness.raw(run.run_id)
        assert isinstance(store.renew(answer.claim, timeout=T), Lost)
        assert harness.raw(run.run_id) == before


@pytest.mark.parametrize("skew", [-DAY, DAY], ids=["a day behind", "a day ahead"])
class TestWrongClock:
    """R16; bug rows 44 and 50, weakness 8."""

    def test_steals_no_live_lease(
        self, harness: Harness, store: Store, run: Run, terms: Terms, skew: timedelta
    ) -> None:
        claimed(store, run, "one", terms)
        assert 50 < held(harness.open(skew), run, "two", terms).lease_left <= 60

    def test_of_the_holder_keeps_its_lease_alive(
        self, harness: Harness, store: Store, run: Run, terms: Terms, skew: timedelta
    ) -> None:
        holder = harness.open(skew)
        renewed(holder, claimed(holder, run, "one", terms).claim)
        assert 50 < held(store, run, "two", terms).lease_left <= 60

    def test_of_the_holder_keeps_no_dead_lease(
        self, harness: Harness, store: Store, run: Run, short: Terms, skew: timedelta
    ) -> None:
        claimed(harness.open(skew), run, "one", short)
        harness.pass_time(0.4)
        assert claimed(store, run, "two", short).claim.recovered

    def test_delays_no_takeover(
        self, harness: Harness, store: Store, run: Run, short: Terms, skew: timedelta
    ) -> None:
        claimed(store, run, "one", short)
        harness.pass_time(0.4)
        assert claimed(harness.open(skew), run, "two", short).claim.recovered

    def test_shortens_no_retention(
        self, harness: Harness, run: Run, terms: Terms, skew: timedelta
    ) -> None:
        """R29."""
        store = harness.open(skew)
        finished(store, claimed(store, run, "one", terms))
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.expire_at is not None
        least = max(NOON, harness.now()) + timedelta(seconds=terms.retention - 5)
        assert record.expire_at > least
