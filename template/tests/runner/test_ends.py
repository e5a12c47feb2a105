"""How a job ends, and what that makes of its run (R09, R11, R12, R20-R23), on every store."""

import asyncio
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import NoReturn

import pytest

from app.dedup import Attempt, GiveUp, OutcomeUnknown, outcome
from tests.support.faults import Kind
from tests.support.protocol import Instance, Never, let_it_die, raising, run_id_at
from tests.support.stores import Harness, lossy


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
