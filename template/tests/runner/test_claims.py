"""A claim that is late or lost before its work is recorded (R19, R24), on every store."""

from collections.abc import Callable
from datetime import datetime
from typing import NoReturn

import pytest

from app.dedup import Attempt, ClaimLost, GiveUp, outcome
from app.dedup.store import Claim, ClaimAnswer, Lost, Run, Store, Terms
from tests.support.protocol import Instance, Never, let_it_die, raising, run_id_at
from tests.support.stores import Harness, movable


class Freezing:
    """A store whose process stands still between the claim and its answer."""

    def __init__(self, store: Store, meanwhile: Callable[[], object]) -> None:
        self._store = store
        self._meanwhile = meanwhile

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def claim(self, run: Run, attempt_id: str, terms: Terms, *, timeout: float) -> ClaimAnswer:
        answer = self._store.claim(run, attempt_id, terms, timeout=timeout)
        self._meanwhile()
        return answer


class FreezingAgain(Freezing):
    """One that stands still between a renewal and its answer, too."""

    def renew(self, claim: Claim, *, timeout: float) -> Claim | Lost:
        answer = self._store.renew(claim, timeout=timeout)
        self._meanwhile()
        return answer


@movable
class TestFrozenClaim:
    """R19: between the claim and the work, the process stood still for longer than a lease."""

    def test_is_renewed_before_the_work(self, harness: Harness, due: datetime) -> None:
        one = Instance(harness, request_timeout=600.0)
        one.freeze(Freezing, lambda: harness.pass_time(61))
        assert isinstance(one.deliver(due), outcome.Processed)
        assert not one.attempts[0].lost.is_set()

    def test_that_was_taken_over_does_not_run(self, harness: Harness, due: datetime) -> None:
        one, two = Instance(harness, request_timeout=600.0), Instance(harness)

        def meanwhile() -> None:
            harness.pass_time(61)
            two.deliver(due)

        one.freeze(Freezing, meanwhile)
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Duplicate)
        assert not never.ran
        assert two.attempts[0].recovered

    def test_is_renewed_as_often_as_it_stood_still(self, harness: Harness, due: datetime) -> None:
        """The renewal before the work is no better than the claim was."""
        one, two = Instance(harness, request_timeout=600.0), Instance(harness)
        meanwhile = iter((1, 2))

        def stand_still() -> None:
            if number := next(meanwhile, None):
                harness.pass_time(61)
            if number == 2:
                two.deliver(due)

        one.freeze(FreezingAgain, stand_still)
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Duplicate)
        assert not never.ran
        assert two.attempts[0].recovered

    def test_that_is_renewed_too_late_is_released(self, harness: Harness, due: datetime) -> None:
        """Bug row 2: the request's time can be over after that renewal."""
        one = Instance(harness, request_timeout=100.0)
        one.freeze(FreezingAgain, lambda: harness.pass_time(61))
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran
        assert harness.raw(run_id_at(due)) is None

    def test_that_is_renewed_after_the_signal_is_released(
        self, harness: Harness, due: datetime
    ) -> None:
        """R27: SIGTERM can come during that renewal."""
        one = Instance(harness, request_timeout=600.0)
        meanwhile = iter((lambda: harness.pass_time(61), one.shutdown.begin))
        one.freeze(FreezingAgain, lambda: next(meanwhile)())
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran
        assert harness.raw(run_id_at(due)) is None

    def test_without_time_left_is_released(self, harness: Harness, due: datetime) -> None:
        """Bug row 2."""
        one = Instance(harness, request_timeout=30.0)
        one.freeze(Freezing, lambda: harness.pass_time(31))
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran
        assert harness.raw(run_id_at(due)) is None


class TestLostClaim:
    """R19, R24; weakness 4: never a 200 while nobody has finished the run."""

    def test_answers_duplicate_if_the_other_attempt_completed_the_run(
        self, harness: Harness, one: Instance, two: Instance, due: datetime
    ) -> None:
        def job(attempt: Attempt) -> dict[str, object]:
            let_it_die(harness, due)
            two.deliver(due, lambda a: {"by": "two"})
            return {"by": "one"}

        assert one.deliver(due, job) == outcome.Duplicate(run_id_at(due), {"by": "two"})

    def test_answers_gave_up_if_the_other_attempt_failed_for_good(
        self, harness: Harness, one: Instance, two: Instance, due: datetime
    ) -> None:
        def job(attempt: Attempt) -> None:
            let_it_die(harness, due)
            two.deliver(due, raising(GiveUp("no")))

        assert one.deliver(due, job) == outcome.GaveUp(run_id_at(due), "no")

    @pytest.mark.parametrize("end", [None, GiveUp("no"), ClaimLost("told")])
    def test_answers_lost_while_the_other_attempt_is_at_work(
        self, harness: Harness, one: Instance, due: datetime, end: Exception | None
    ) -> None:
        def job(attempt: Attempt) -> None:
            harness.edit(run_id_at(due), {"attempt_id": "other", "lease_seconds": 60})
            if end:
                raise end

        answer = one.deliver(due, job)
        assert isinstance(answer, outcome.Lost)
        assert answer.lease_left is not None
        assert answer.lease_left > 50

    def test_answers_lost_to_nobody_if_the_record_is_gone(
        self, harness: Harness, one: Instance, due: datetime
    ) -> None:
        answer = one.deliver(due, lambda a: harness.erase(run_id_at(due)))
        assert answer == outcome.Lost(run_id_at(due), None)

    def test_writes_nothing_to_the_record(
        self, harness: Harness, one: Instance, due: datetime
    ) -> None:
        kept: list[object] = []

        def job(attempt: Attempt) -> NoReturn:
            harness.edit(run_id_at(due), {"attempt_id": "other"})
            kept.append(harness.raw(run_id_at(due)))
            raise ValueError("late")

        assert isinstance(one.deliver(due, job), outcome.Failed)
        assert [harness.raw(run_id_at(due))] == kept


class TestLateRequest:
    def test_does_not_start(self, harness: Harness, one: Instance, due: datetime) -> None:
        """Bug row 2: no time left is not the same as no limit."""
        never = Never()
        assert isinstance(one.deliver(due, never, age=60.0), outcome.Unavailable)
        assert not never.ran
        assert harness.raw(run_id_at(due)) is None
