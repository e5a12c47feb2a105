"""How to test your job. This file is yours: updates of the template never touch it."""

from datetime import UTC, datetime, timedelta

import pytest

from app import job
from app.dedup import Attempt, Stopping

NOON = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)


def attempt(*, recovered: bool = False) -> Attempt:
    """One attempt at noon's run, as the service makes it; add what your job looks at."""
    return Attempt(
        run_id="5a" * 32,
        attempt_id="c4" * 16,
        job_name="my-job",
        schedule_time=NOON,
        deadline=NOON + timedelta(minutes=3),
        recovered=recovered,
    )


def test_the_result_says_what_the_run_was_for() -> None:
    assert job.run(attempt()) == {"scheduled_for": "2026-10-16T12:00:00+00:00"}


def test_a_second_attempt_finishes_what_the_first_one_began() -> None:
    assert job.run(attempt(recovered=True)) == job.run(attempt())


def test_the_job_stops_when_it_is_told_to() -> None:
    stopped = attempt()
    stopped.stopping.set()
    with pytest.raises(Stopping):
        job.run(stopped)
