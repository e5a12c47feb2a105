"""`release` takes a run from its attempt, and from no other (R40), on every store."""

from datetime import datetime, timedelta

import pytest

from app.dedup.record import Status
from app.dedup.store import Lost, Run
from tests.support.command import JOB, TERMS, Command, begin, end, run_at, text
from tests.support.faults import Kind
from tests.support.steps import T, claimed
from tests.support.stores import Harness

FIELDS = {"run_id", "record", "dry_run", "released", "recovered"}
"""Scripts rely on these names: none is renamed or removed."""


@pytest.fixture
def run(due: datetime) -> Run:
    return run_at(due)


def claimed_next(harness: Harness, run: Run) -> bool:
    """Deliver the run to another attempt, which gets it; tell whether it knows of the first."""
    return claimed(harness.open(), run, "two", TERMS).claim.recovered


class TestStuckRun:
    def test_is_free_and_the_next_attempt_knows_that_it_was_begun(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """R13."""
        begin(harness, run, lease=0.0)
        done = command("release", run.run_id, "--json")
        assert done.status == 0
        assert done.data.keys() == FIELDS
        assert (done.data["released"], done.data["recovered"]) == (True, True)
        assert claimed_next(harness, run)

    def test_may_be_named_by_its_schedule_time(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        begin(harness, run, lease=0.0)
        assert command("release", text(run.schedule_time)).status == 0
        assert claimed_next(harness, run)

    def test_is_named_by_its_run_id_where_two_have_the_time(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """R06."""
        forced = run_at(run.schedule_time, forced=True)
        for each in (run, forced):
            begin(harness, each, lease=0.0)
        done = command("release", text(run.schedule_time))
        assert done.status == 3
        assert all(each.run_id in done.err for each in (run, forced))
        assert command("release", forced.run_id).status == 0
        raw = harness.raw(run.run_id)
        assert raw is not None
        assert raw["attempt_id"] == "one"

    def test_keeps_what_its_record_says_of_it(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        begin(harness, run, lease=0.0)
        command("release", run.run_id)
        (record,) = command.data("show", run.run_id)["records"]
        assert record["job_name"] == JOB
        assert record["schedule_time"] == text(run.schedule_time)
        assert record["state"] == "stuck"
        assert record["attempt_id"].startswith("released-")
        assert record["own_key"]


class TestLiveLease:
    def test_is_left_alone(self, harness: Harness, command: Command, run: Run) -> None:
        begin(harness, run)
        before = harness.raw(run.run_id)
        for argv in ([], ["--dry-run"], ["--json"]):
            done = command("release", run.run_id, *argv)
            assert (done.status, done.out) == (3, "")
            assert "s of lease left" in done.err
            assert "--force" in done.err
        assert harness.raw(run.run_id) == before

    def test_ends_by_force(self, harness: Harness, command: Command, run: Run) -> None:
        """The attempt that had it learns so at its next renewal and writes nothing (R19)."""
        claim = begin(harness, run)
        assert command("release", run.run_id, "--force").status == 0
        assert isinstance(harness.open().renew(claim, timeout=T), Lost)
        assert claimed_next(harness, run)
        lost = harness.open().finish(claim, Status.COMPLETED, None, timeout=T)
        assert isinstance(lost, Lost)
        assert lost.record is not None
        assert lost.record.attempt_id == "two"

    def test_that_nothing_says_the_end_of_takes_force(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """R17."""
        harness.plant(run.run_id, {"status": "in_progress"})
        assert command("release", run.run_id).status == 3
        assert command.data("release", run.run_id, "--force")["recovered"] is False
        assert harness.raw(run.run_id) is None


class TestFinalRecord:
    @pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED])
    def test_is_never_touched(
        self, harness: Harness, command: Command, run: Run, status: Status
    ) -> None:
        """R11, R23: not even by force."""
        end(harness, run, status)
        before = harness.raw(run.run_id)
        for argv in ([], ["--force"]):
            done = command("release", run.run_id, *argv)
            assert done.status == 3
            assert "redo" in done.err
        assert harness.raw(run.run_id) == before


class TestUnknownStatus:
    def test_takes_force(self, harness: Harness, command: Command, run: Run) -> None:
        """R17: a person has to say that the run may be done again."""
        harness.plant(run.run_id, {"status": "paused"})
        before = harness.raw(run.run_id)
        assert command("release", run.run_id).status == 3
        assert harness.raw(run.run_id) == before
        done = command("release", run.run_id, "--force")
        assert done.status == 0
        assert "without knowing" in done.out
        assert not claimed_next(harness, run)


class TestRecordThatChangesMeanwhile:
    def test_by_a_renewal_is_left_alone(self, harness: Harness, command: Command, run: Run) -> None:
        """An attempt that was thought dead comes back to life in between."""
        claim = begin(harness, run, lease=0.0)
        store = harness.open()
        harness.faults.plan = [Kind.NONE, lambda: store.renew(claim, timeout=T)]
        done = command("release", run.run_id)
        assert done.status == 3
        assert "has changed" in done.err
        raw = harness.raw(run.run_id)
        assert raw is not None
        assert raw["attempt_id"] == "one"

    def test_by_its_end_is_left_alone(self, harness: Harness, command: Command, run: Run) -> None:
        claim = begin(harness, run)
        store = harness.open()
        harness.faults.plan = [
            Kind.NONE,
            lambda: store.finish(claim, Status.COMPLETED, None, timeout=T),
        ]
        assert command("release", run.run_id, "--force").status == 3
        raw = harness.raw(run.run_id)
        assert raw is not None
        assert raw["status"] == "completed"


def test_dry_run_changes_nothing(harness: Harness, command: Command, run: Run) -> None:
    begin(harness, run)
    before = harness.raw(run.run_id)
    done = command("release", run.run_id, "--force", "--dry-run", "--json")
    assert done.status == 0
    assert done.data.keys() == FIELDS
    assert (done.data["dry_run"], done.data["released"]) == (True, False)
    assert command("release", run.run_id, "--force", "--dry-run").out.startswith("Would release")
    assert harness.raw(run.run_id) == before


def test_no_record_is_told_by_the_exit_status(command: Command, due: datetime) -> None:
    for run in ("0" * 64, text(due + timedelta(minutes=1))):
        assert command("release", run).status == 1
        assert command.data("release", run).keys() == FIELDS
