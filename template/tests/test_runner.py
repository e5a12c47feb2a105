"""Claim, run, finish (R18-R26), on every store."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import NoReturn

import pytest

from app.dedup import Attempt, ClaimLost, GiveUp, OutcomeUnknown, outcome
from app.dedup.store import Claim, ClaimAnswer, Lost, Run, Store, Terms
from tests.support.faults import Kind
from tests.support.protocol import Instance, Never, run_id_at
from tests.support.stores import Harness, lossy, movable


@pytest.fixture
def due(harness: Harness) -> datetime:
    """The schedule time of a run that is due."""
    return harness.now().replace(microsecond=0) - timedelta(minutes=1)


@pytest.fixture
def one(harness: Harness) -> Instance:
    return Instance(harness)


@pytest.fixture
def two(harness: Harness) -> Instance:
    return Instance(harness)


def raising(error: BaseException) -> Callable[[Attempt], NoReturn]:
    def job(attempt: Attempt) -> NoReturn:
        raise error

    return job


def let_it_die(harness: Harness, moment: datetime) -> None:
    """Make the live claim of a run look dead, as after a crash and a lease."""
    harness.edit(run_id_at(moment), {"lease_seconds": 0})


class TestSuccess:
    def test_is_recorded_and_shown_to_duplicates(
        self, one: Instance, two: Instance, due: datetime
    ) -> None:
        """R11, R20."""
        run_id = run_id_at(due)
        never = Never()
        assert one.deliver(due, lambda a: {"rows": 3}) == outcome.Processed(run_id, {"rows": 3})
        assert two.deliver(due, never) == outcome.Duplicate(run_id, {"rows": 3})
        assert not never.ran

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (GiveUp(), None),
            (GiveUp("status 404:\n  no such\ttable"), "status 404: no such table"),
            (GiveUp("é" * 400), "é" * 250),
            (GiveUp('"' * 2000), '"' * 500),
        ],
    )
    def test_for_good_is_told_with_its_reason(
        self, one: Instance, two: Instance, due: datetime, error: GiveUp, reason: str | None
    ) -> None:
        """R23: in one line, as much of it as a record keeps."""
        ends = [one.deliver(due, raising(error)), two.deliver(due, Never())]
        assert ends == [outcome.GaveUp(run_id_at(due), reason)] * 2

    def test_of_an_async_job_is_the_same(self, one: Instance, due: datetime) -> None:
        async def job(attempt: Attempt) -> dict[str, object]:
            await asyncio.sleep(0)
            return {"awaited": True}

        assert one.deliver(due, job) == outcome.Processed(run_id_at(due), {"awaited": True})

    def test_is_not_disturbed_by_a_duplicate_meanwhile(
        self, one: Instance, two: Instance, due: datetime
    ) -> None:
        """R12, R14."""
        never = Never()
        meanwhile: list[outcome.Outcome] = []
        answer = one.deliver(due, lambda a: meanwhile.append(two.deliver(due, never)))
        assert isinstance(meanwhile[0], outcome.InProgress)
        assert 50 < meanwhile[0].lease_left <= 60
        assert isinstance(answer, outcome.Processed)
        assert not never.ran

    def test_runs_under_its_own_key_whatever_the_job_does_to_the_request(
        self, harness: Harness, one: Instance, due: datetime
    ) -> None:
        """Bug row 11."""
        one.deliver(due, lambda a: a.headers.clear())
        record = harness.raw(run_id_at(due))
        assert record is not None
        assert record["status"] == "completed"


class TestFailure:
    @pytest.mark.parametrize(
        "error",
        [
            ValueError("no rows"),
            SystemExit(1),
            KeyboardInterrupt(),
            asyncio.CancelledError(),
            GeneratorExit(),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_is_released_so_that_the_next_attempt_starts_at_once(
        self, harness: Harness, one: Instance, two: Instance, due: datetime, error: BaseException
    ) -> None:
        """R21; weakness 6: whatever the job raises."""
        answer = one.deliver(due, raising(error))
        assert isinstance(answer, outcome.Failed)
        assert type(error).__name__ in answer.reason
        assert harness.raw(run_id_at(due)) is None
        assert isinstance(two.deliver(due), outcome.Processed)
        assert not two.attempts[0].recovered

    def test_after_a_takeover_tells_the_next_attempt_too(
        self, harness: Harness, one: Instance, two: Instance, due: datetime
    ) -> None:
        """R21: part of the first attempt's work may still be there."""
        harness.plant(run_id_at(due), {"status": "in_progress", "lease_seconds": 0})
        one.deliver(due, raising(ValueError("still broken")))
        assert one.attempts[0].recovered
        assert isinstance(two.deliver(due), outcome.Processed)
        assert two.attempts[0].recovered

    @lossy
    def test_is_the_one_that_is_logged_even_if_the_release_fails(
        self, harness: Harness, one: Instance, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R21; bug row 31, weakness 5."""

        def job(attempt: Attempt) -> NoReturn:
            harness.faults.plan = [Kind.LOST_REQUEST] * 100
            raise ValueError("the job's own")

        answer = one.deliver(due, job)
        assert isinstance(answer, outcome.Failed)
        assert "ValueError" in answer.reason
        errors = [line.exc_info for line in caplog.records if line.levelno == logging.ERROR]
        assert [str(info[1]) for info in errors if info] == ["the job's own"]

    def test_for_good_is_final(self, one: Instance, two: Instance, due: datetime) -> None:
        """R23."""
        never = Never()
        assert one.deliver(due, raising(GiveUp("bad input"))) == outcome.GaveUp(
            run_id_at(due), "bad input"
        )
        assert two.deliver(due, never) == outcome.GaveUp(run_id_at(due), "bad input")
        assert not never.ran

    def test_of_unknown_outcome_lets_things_settle_before_the_next_attempt(
        self, harness: Harness, one: Instance, two: Instance, due: datetime
    ) -> None:
        """R22."""
        assert isinstance(one.deliver(due, raising(OutcomeUnknown("timeout"))), outcome.Failed)
        waiting = two.deliver(due)
        assert isinstance(waiting, outcome.InProgress)
        assert 25 < waiting.lease_left <= 30
        let_it_die(harness, due)
        assert isinstance(two.deliver(due), outcome.Processed)
        assert two.attempts[0].recovered


class Untrue(Exception):
    """An exception that cannot be shown, asked or explained."""

    def __bool__(self) -> bool:
        raise RuntimeError("never ask")

    def __str__(self) -> str:
        raise RuntimeError("never show")


class Shapeless(dict[str, object]):
    """A result that changes while it is looked at."""

    def items(self) -> NoReturn:
        raise RuntimeError("dictionary changed size during iteration")


class TestHostileJob:
    @pytest.mark.parametrize("error", [Untrue(), GiveUp(Untrue()), OutcomeUnknown(Untrue())])
    def test_is_recorded_whatever_its_exception_does(
        self, harness: Harness, one: Instance, due: datetime, error: Exception
    ) -> None:
        """R21-R23: what cannot be logged ends like what can."""
        assert isinstance(one.deliver(due, raising(error)), outcome.Failed | outcome.GaveUp)
        record = harness.raw(run_id_at(due))
        assert record is None or record["status"] == "failed" or record["lease_seconds"] == 30

    def test_is_completed_whatever_its_result_does(self, one: Instance, due: datetime) -> None:
        """R20: an odd result is dropped; the work is done."""
        assert one.deliver(due, lambda a: Shapeless(a=1)) == outcome.Processed(run_id_at(due), None)

    def test_that_is_a_generator_has_not_run(self, one: Instance, due: datetime) -> None:
        """R20: never completed without having run."""

        def job(attempt: Attempt) -> Iterator[int]:
            yield 1

        answer = one.deliver(due, job)
        assert isinstance(answer, outcome.Failed)
        assert "TypeError" in answer.reason


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


class TestStoreFailure:
    """R25, R26."""

    @lossy
    def test_of_the_claim_keeps_the_job_from_running(
        self, harness: Harness, one: Instance, due: datetime
    ) -> None:
        """Bug row 25: fail closed."""
        harness.faults.plan = [Kind.LOST_REQUEST] * 100
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran

    @lossy
    @pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
    def test_of_the_claim_is_overcome(
        self, harness: Harness, one: Instance, due: datetime, kind: Kind
    ) -> None:
        """R15; weakness 1: the work is done, and nobody is refused by himself."""
        harness.faults.plan = [kind]
        assert isinstance(one.deliver(due), outcome.Processed)

    @lossy
    def test_that_is_overcome_is_logged(
        self, harness: Harness, one: Instance, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R39."""
        harness.faults.plan = [Kind.LOST_ANSWER]
        one.deliver(due)
        events = [getattr(line, "event", None) for line in caplog.records]
        assert "unclear_resolved" in events

    @lossy
    @pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_of_the_finish_is_overcome_within_the_lease(
        self, harness: Harness, one: Instance, due: datetime, kind: Kind, count: int
    ) -> None:

        def job(attempt: Attempt) -> None:
            harness.faults.plan = [kind] * count

        assert isinstance(one.deliver(due, job), outcome.Processed)

    @lossy
    def test_of_the_finish_says_that_the_work_was_done(
        self, harness: Harness, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Bug row 12: the record stays ours, and the next attempt knows."""
        one = Instance(harness, lease=5.0)

        def job(attempt: Attempt) -> None:
            harness.faults.plan = [Kind.LOST_REQUEST] * 100

        answer = one.deliver(due, job)
        harness.faults.plan = []
        assert isinstance(answer, outcome.Failed)
        assert "the work was done" in answer.reason
        assert "its record was not written" in caplog.text
        record = harness.raw(run_id_at(due))
        assert record is not None
        assert record["attempt_id"] == one.attempts[0].attempt_id
        let_it_die(harness, due)
        one.deliver(due)
        assert one.attempts[1].recovered

    def test_of_an_unknown_status_leaves_the_run_alone(
        self, harness: Harness, one: Instance, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R17: fail closed, with an error in the log."""
        harness.plant(run_id_at(due), {"status": "paused"})
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran
        assert any(line.levelno == logging.ERROR for line in caplog.records)


class TestLateRequest:
    def test_does_not_start(self, harness: Harness, one: Instance, due: datetime) -> None:
        """Bug row 2: no time left is not the same as no limit."""
        never = Never()
        assert isinstance(one.deliver(due, never, age=60.0), outcome.Unavailable)
        assert not never.ran
        assert harness.raw(run_id_at(due)) is None


class TestAttempt:
    def test_ids_differ_even_in_one_process(self, one: Instance, due: datetime) -> None:
        """Bug row 18: 128 random bits."""
        one.deliver(due, raising(ValueError()))
        one.deliver(due)
        first, second = (attempt.attempt_id for attempt in one.attempts)
        assert first != second
        assert len(first) == len(second) == 32

    def test_has_the_same_token_for_a_step_as_the_one_before(
        self, one: Instance, two: Instance, due: datetime
    ) -> None:
        """R09."""
        one.deliver(due, raising(ValueError()))
        two.deliver(due)
        assert one.attempts[0].token("charge") == two.attempts[0].token("charge")
        assert one.attempts[0].token("charge") != one.attempts[0].token("mail")
        assert one.attempts[0].fence < two.attempts[0].fence
