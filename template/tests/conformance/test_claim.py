"""What a claim answers (R10-R15, R29), on every store."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.dedup.record import Status
from app.dedup.store import Claimed, Closed, Held, Run, Store, Terms
from tests.support.clock import NOON
from tests.support.steps import T, claimed, finished, held
from tests.support.stores import Harness, lossy


class TestNewRun:
    def test_is_claimed_with_one_complete_record(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R10."""
        answer = claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.status is Status.IN_PROGRESS
        assert record.attempt_id == "one"
        assert record.lease_seconds == terms.lease
        assert (record.job_name, record.project, record.location, record.forced) == (
            "nightly",
            "my-project",
            "us-central1",
            False,
        )
        assert record.schedule_time == run.schedule_time
        assert record.claimed_at is not None
        assert record.lease_expires is not None
        assert abs(record.lease_expires - answer.now - timedelta(seconds=60)) < timedelta(seconds=2)
        assert record.finished_at is None
        assert record.result is None
        assert not answer.claim.recovered

    def test_answers_with_the_stores_time(self, harness: Harness, run: Run, terms: Terms) -> None:
        """R06: a wrong clock shows in the answer to the claim itself."""
        store = harness.open(skew=timedelta(days=1))
        assert abs(claimed(store, run, "one", terms).now - harness.now()) < timedelta(seconds=5)

    def test_keeps_its_lease_to_the_millisecond(self, store: Store, run: Run, terms: Terms) -> None:
        """Bug row 14: seconds stay seconds on the way to the store and back."""
        claimed(store, run, "one", replace(terms, lease=61.7504))
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.lease_seconds == pytest.approx(61.7504, abs=0.0005)

    @pytest.mark.parametrize("ahead", [timedelta(days=-30), timedelta(hours=12)])
    def test_is_kept_for_the_retention_after_schedule_time_and_now(
        self, harness: Harness, store: Store, run: Run, terms: Terms, ahead: timedelta
    ) -> None:
        """R29."""
        time = harness.now() + ahead
        moved = replace(run, schedule_time=time)
        claimed(store, moved, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.expire_at is not None
        expected = max(time, harness.now()) + timedelta(seconds=terms.retention)
        assert abs(record.expire_at - expected) < timedelta(seconds=5)

    def test_at_the_end_of_time_is_claimed_like_any_other(
        self, store: Store, run: Run, terms: Terms
    ) -> None:
        """R29: a retention that no calendar holds ends with the calendar."""
        last = NOON.replace(year=9999, month=12, day=31)
        claimed(store, replace(run, schedule_time=last), "one", terms)


class TestDuplicate:
    def test_of_a_live_claim_is_told_how_long_to_wait(
        self, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """R12."""
        claimed(store, run, "one", terms)
        assert 50 < held(other, run, "two", terms).lease_left <= 60

    def test_of_a_completed_run_gets_its_result(
        self, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """R11, R20."""
        finished(store, claimed(store, run, "one", terms), '{"rows":3}')
        answer = other.claim(run, "two", terms, timeout=T)
        assert isinstance(answer, Closed)
        assert answer.record.status is Status.COMPLETED
        assert answer.record.result == {"rows": 3}

    def test_of_a_run_that_failed_for_good_is_told_so(
        self, store: Store, other: Store, run: Run, terms: Terms
    ) -> None:
        """R23."""
        claim = claimed(store, run, "one", terms).claim
        assert store.finish(claim, Status.FAILED, None, timeout=T) is None
        answer = other.claim(run, "two", terms, timeout=T)
        assert isinstance(answer, Closed)
        assert answer.record.status is Status.FAILED

    @pytest.mark.parametrize("state", ["live", "completed", "failed", "unknown"])
    def test_leaves_the_record_byte_for_byte_as_it_was(
        self, harness: Harness, store: Store, run: Run, terms: Terms, state: str
    ) -> None:
        """R14."""
        if state == "unknown":
            harness.plant(run.run_id, {"status": "paused"})
        else:
            claim = claimed(store, run, "one", terms).claim
            if state != "live":
                store.finish(claim, Status(state), '{"a":1}', timeout=T)
        before = harness.raw(run.run_id)
        assert not isinstance(store.claim(run, "two", terms, timeout=T), Claimed)
        assert harness.raw(run.run_id) == before

    def test_by_the_holder_itself_is_its_own_claim(
        self, store: Store, run: Run, terms: Terms
    ) -> None:
        """R15: never `in progress` to oneself."""
        first = claimed(store, run, "one", terms)
        again = claimed(store, run, "one", terms)
        assert again.claim.fence == first.claim.fence
        assert not again.claim.recovered

    def test_of_an_expired_record_still_counts(
        self, harness: Harness, store: Store, run: Run, terms: Terms
    ) -> None:
        """R29: the store deletes hours or days late, and until then the run is done."""
        past = harness.now() - timedelta(days=2)
        harness.plant(run.run_id, {"status": "completed", "attempt_id": "one", "expire_at": past})
        assert isinstance(store.claim(run, "two", terms, timeout=T), Closed)


class TestTakeover:
    def test_of_a_dead_claim_knows_that_it_is_one(
        self, harness: Harness, store: Store, other: Store, run: Run, short: Terms, terms: Terms
    ) -> None:
        """R13, R28; bug row 1."""
        claimed(store, run, "one", short)
        harness.pass_time(0.4)
        answer = claimed(other, run, "two", terms)
        assert answer.claim.recovered
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.attempt_id == "two"
        assert record.lease_seconds == 60

    def test_starts_a_lease_of_its_own(
        self, harness: Harness, store: Store, run: Run, short: Terms, terms: Terms
    ) -> None:
        """R13."""
        claimed(store, run, "one", short)
        harness.pass_time(0.4)
        claimed(store, run, "two", terms)
        assert held(store, run, "three", terms).lease_left > 50

    @lossy
    def test_does_not_happen_to_a_lease_that_was_renewed_meanwhile(
        self, harness: Harness, store: Store, run: Run, short: Terms, terms: Terms
    ) -> None:
        """R13: the lease that was found dead is renewed just before it is taken."""
        holder = harness.open()
        claim = claimed(holder, run, "one", short).claim
        longer = replace(claim, terms=terms)
        harness.pass_time(0.4)
        harness.faults.plan = [
            *[lambda: None] * (harness.takeover_calls - 1),
            lambda: holder.renew(longer, timeout=T),
        ]
        assert isinstance(store.claim(run, "two", terms, timeout=T), Held)


class TestRuns:
    def test_do_not_touch_each_other(self, store: Store, run: Run, terms: Terms) -> None:
        """Bug row 7."""
        claimed(store, run, "one", terms)
        assert not claimed(store, replace(run, run_id="b" * 64), "two", terms).claim.recovered

    def test_obey_the_terms_of_their_own_claim(self, store: Store, run: Run, terms: Terms) -> None:
        """Bug row 13: one store object, two configurations."""
        claimed(store, run, "one", terms)
        second = replace(run, run_id="b" * 64)
        claimed(store, second, "two", replace(terms, lease=600.0))
        assert held(store, run, "x", terms).lease_left <= 60
        assert held(store, second, "x", terms).lease_left > 500


class TestFence:
    def test_rises_with_every_claim_of_a_run(
        self, harness: Harness, store: Store, run: Run, short: Terms
    ) -> None:
        """Claimed, released and claimed, taken over, ended and taken over again."""
        fences = []
        claim = claimed(store, run, "one", short).claim
        fences.append(claim.fence)
        store.release(claim, settle=None, timeout=T)
        fences.append(claimed(store, run, "two", short).claim.fence)
        harness.pass_time(0.4)
        claim = claimed(store, run, "three", short).claim
        fences.append(claim.fence)
        store.release(claim, settle=0.0, timeout=T)
        fences.append(claimed(store, run, "four", short).claim.fence)
        assert fences == sorted(set(fences))
