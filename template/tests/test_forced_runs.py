"""Forced runs have keys of their own, judged by the store's clock in the end (R06)."""

from datetime import datetime, timedelta

import pytest

from app.dedup import outcome
from app.dedup.delivery import Trigger
from tests.support.protocol import Instance, Never, run_id_at
from tests.support.stores import Harness

SKEWS = [timedelta(), timedelta(days=1), timedelta(days=-1), timedelta(hours=1)]


@pytest.fixture(params=SKEWS, ids=str)
def skew(request: pytest.FixtureRequest) -> timedelta:
    """How wrong the clock of the instance is."""
    value: timedelta = request.param
    return value


@pytest.fixture
def ahead(harness: Harness) -> datetime:
    """The job's next schedule time."""
    return harness.now().replace(microsecond=0) + timedelta(minutes=15)


@pytest.fixture
def due(harness: Harness) -> datetime:
    """A schedule time that has just been."""
    return harness.now().replace(microsecond=0) - timedelta(seconds=1)


def test_forced_run_leaves_the_scheduled_run_alone(
    harness: Harness, ahead: datetime, skew: timedelta
) -> None:
    """A forced run carries the next schedule time; that run still has to happen."""
    instance = Instance(harness, skew=skew)
    answer = instance.deliver(ahead)
    assert answer == outcome.Processed(run_id_at(ahead, Trigger.FORCED), None)
    assert instance.attempts[0].forced
    assert harness.raw(run_id_at(ahead, Trigger.SCHEDULED)) is None


def test_scheduled_run_has_one_key_whatever_the_clock_says(
    harness: Harness, due: datetime, skew: timedelta
) -> None:
    """A wrong clock never makes a second key."""
    instance = Instance(harness, skew=skew)
    assert instance.deliver(due) == outcome.Processed(run_id_at(due), None)
    assert not instance.attempts[0].forced
    assert harness.raw(run_id_at(due, Trigger.FORCED)) is None
    never = Never()
    assert isinstance(Instance(harness).deliver(due, never), outcome.Duplicate)
    assert not never.ran


def test_several_forced_runs_before_one_time_count_as_one(
    harness: Harness, ahead: datetime, skew: timedelta
) -> None:
    never = Never()
    Instance(harness, skew=skew).deliver(ahead)
    assert isinstance(Instance(harness).deliver(ahead, never), outcome.Duplicate)
    assert not never.ran


def test_claim_under_the_wrong_key_is_undone_before_any_work(
    harness: Harness, due: datetime
) -> None:
    """The clock is a day behind: the run looks forced until the store answers."""
    instance = Instance(harness, skew=timedelta(days=-1))

    def job(attempt: object) -> None:
        assert harness.raw(run_id_at(due, Trigger.FORCED)) is None
        assert harness.raw(run_id_at(due)) is not None

    assert isinstance(instance.deliver(due, job), outcome.Processed)


def test_takeover_under_the_wrong_key_is_given_back(harness: Harness, ahead: datetime) -> None:
    """The clock is a day ahead: a dead record of the scheduled key is not eaten."""
    scheduled = run_id_at(ahead)
    harness.plant(scheduled, {"status": "in_progress", "lease_seconds": 0})
    answer = Instance(harness, skew=timedelta(days=1)).deliver(ahead)
    assert answer == outcome.Processed(run_id_at(ahead, Trigger.FORCED), None)
    record = harness.raw(scheduled)
    assert record is not None
    assert (record["status"], record["lease_seconds"]) == ("in_progress", 0)


def test_shared_key_gives_the_documented_behaviour(harness: Harness, ahead: datetime) -> None:
    """`forced_runs: shared`: the forced run counts as the scheduled one."""
    instance = Instance(harness, separate=False)
    assert instance.deliver(ahead) == outcome.Processed(run_id_at(ahead), None)
    assert not instance.attempts[0].forced
