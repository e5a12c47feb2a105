"""An instance that shuts down (R27), on every store."""

from datetime import datetime

from app.dedup import Attempt, outcome
from tests.support.protocol import Instance, Never, run_id_at
from tests.support.stores import Harness


def test_no_claim_is_made_after_the_signal(harness: Harness, due: datetime) -> None:
    instance = Instance(harness)
    instance.shutdown.begin()
    never = Never()
    assert isinstance(instance.deliver(due, never), outcome.Unavailable)
    assert not never.ran
    assert harness.faults.calls == []


def test_claim_that_is_won_after_the_signal_is_released_unrun(
    harness: Harness, due: datetime
) -> None:
    instance = Instance(harness)
    harness.faults.plan = [instance.shutdown.begin]
    never = Never()
    assert isinstance(instance.deliver(due, never), outcome.Unavailable)
    assert not never.ran
    assert harness.raw(run_id_at(due)) is None


def test_attempt_is_told_and_may_complete(harness: Harness, due: datetime) -> None:
    instance = Instance(harness)
    told: list[bool] = []

    def job(attempt: Attempt) -> None:
        instance.shutdown.begin()
        told.append(attempt.stopping.is_set())

    assert isinstance(instance.deliver(due, job), outcome.Processed)
    assert told == [True]


def test_attempt_that_stops_is_released(harness: Harness, due: datetime) -> None:
    instance = Instance(harness)

    def job(attempt: Attempt) -> None:
        instance.shutdown.begin()
        attempt.check()

    answer = instance.deliver(due, job)
    assert isinstance(answer, outcome.Failed)
    assert "Stopping" in answer.reason
    assert harness.raw(run_id_at(due)) is None


def test_attempt_that_has_ended_is_not_told(harness: Harness, due: datetime) -> None:
    instance = Instance(harness)
    instance.deliver(due)
    instance.shutdown.begin()
    assert not instance.attempts[0].stopping.is_set()
