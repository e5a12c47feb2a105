"""`redo` delivers a run again, as Cloud Scheduler would (R40), on every store."""

from datetime import datetime, timedelta

import pytest

from app.dedup.delivery import Delivery, Instant, Trigger
from app.dedup.record import Status
from app.dedup.store import Run
from dev.server import free_port
from tests.support.command import SERVICE, Command, begin, end, run_at, text
from tests.support.pretending import Reply, pretending, told
from tests.support.served import Served
from tests.support.stores import Harness, movable
from tests.support.work import Work

FIELDS = {
    "run_id",
    "record",
    "dry_run",
    "command",
    "deleted",
    "delivered",
    "status",
    "answer",
}
"""Scripts rely on these names: none is renamed or removed."""


def raw_status(harness: Harness, run: Run) -> object:
    raw = harness.raw(run.run_id)
    return raw and raw["status"]


class TestRunThatHasEnded:
    @pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED])
    def test_is_done_again(
        self,
        harness: Harness,
        command: Command,
        service: Served,
        work: Work,
        run: Run,
        status: Status,
    ) -> None:
        """R11, R23: as a fresh run with the same key."""
        end(harness, run, status)
        done = command("redo", run.run_id, "--url", service.url, "--json")
        assert done.status == 0
        assert done.data.keys() == FIELDS
        assert (done.data["deleted"], done.data["delivered"]) == (True, True)
        assert (done.data["status"], done.data["answer"]["outcome"]) == (200, "processed")
        assert [(each.run_id, each.recovered) for each in work.attempts] == [(run.run_id, False)]
        assert raw_status(harness, run) == "completed"

    def test_may_be_named_by_its_schedule_time(
        self, harness: Harness, command: Command, service: Served, work: Work, run: Run
    ) -> None:
        end(harness, run)
        assert command("redo", text(run.schedule_time), "--url", service.url).status == 0
        assert [each.run_id for each in work.attempts] == [run.run_id]

    def test_is_only_deleted_without_a_url(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """The command that is printed does the rest."""
        end(harness, run)
        done = command("redo", run.run_id, "--json")
        assert done.status == 0
        assert done.data.keys() == FIELDS
        assert (done.data["deleted"], done.data["delivered"]) == (True, False)
        assert harness.raw(run.run_id) is None

    def test_is_kept_where_the_service_cannot_be_reached(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        end(harness, run)
        before = harness.raw(run.run_id)
        done = command("redo", run.run_id, "--url", f"http://127.0.0.1:{free_port()}")
        assert (done.status, done.out) == (2, "")
        assert "cannot be reached" in done.err
        assert harness.raw(run.run_id) == before


class TestRunWithoutARecord:
    def test_is_delivered_by_its_schedule_time(
        self, harness: Harness, command: Command, service: Served, work: Work, run: Run
    ) -> None:
        """So a missed run is made up for."""
        done = command("redo", text(run.schedule_time), "--url", service.url, "--json")
        assert (done.status, done.data["deleted"]) == (0, False)
        assert [each.run_id for each in work.attempts] == [run.run_id]
        assert raw_status(harness, run) == "completed"

    def test_cannot_be_named_by_its_run_id(self, command: Command, run: Run) -> None:
        done = command("redo", run.run_id, "--json")
        assert done.status == 1
        assert done.data.keys() == FIELDS
        assert "schedule time" in command("redo", run.run_id).out


class TestStuckRun:
    def test_is_taken_over_with_the_knowledge_that_it_was_begun(
        self, harness: Harness, command: Command, service: Served, work: Work, run: Run
    ) -> None:
        """R13: so its record is not deleted."""
        begin(harness, run, lease=0.0)
        done = command("redo", run.run_id, "--url", service.url, "--json")
        assert (done.status, done.data["deleted"]) == (0, False)
        assert [each.recovered for each in work.attempts] == [True]

    def test_that_was_released_by_force_too(
        self, harness: Harness, command: Command, service: Served, work: Work, run: Run
    ) -> None:
        begin(harness, run)
        command("release", run.run_id, "--force")
        assert command("redo", run.run_id, "--url", service.url).status == 0
        assert [each.recovered for each in work.attempts] == [True]


class TestRefusal:
    def test_of_a_run_that_is_being_done(
        self, harness: Harness, command: Command, service: Served, run: Run
    ) -> None:
        """R12."""
        begin(harness, run)
        before = harness.raw(run.run_id)
        for argv in (["--url", service.url], [], ["--dry-run"]):
            done = command("redo", run.run_id, *argv)
            assert (done.status, done.out) == (3, "")
            assert "being done" in done.err
        assert harness.raw(run.run_id) == before
        assert not service.requests

    def test_of_an_unknown_status(self, harness: Harness, command: Command, run: Run) -> None:
        """R17."""
        harness.plant(run.run_id, {"status": "paused"})
        assert command("redo", text(run.schedule_time)).status == 3
        assert raw_status(harness, run) == "paused"

    def test_of_a_forced_run_whose_time_is_over(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """R06: delivered now, it would be the scheduled run."""
        forced = end(harness, run_at(run.schedule_time, forced=True))
        before = harness.raw(forced.run_id)
        done = command("redo", forced.run_id)
        assert done.status == 3
        assert "Force the job again" in done.err
        assert harness.raw(forced.run_id) == before

    def test_of_a_run_of_another_service(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R08: the delivery would have another key."""
        staging = end(harness, run_at(due, service="staging"))
        done = command("redo", staging.run_id)
        assert done.status == 3
        assert "SERVICE=nightly-report" in done.err
        assert raw_status(harness, staging) == "completed"

    def test_of_a_record_that_does_not_say_what_it_is_about(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """R17: by its schedule time the same run can be named."""
        harness.plant(run.run_id, {"status": "completed"})
        assert command("redo", run.run_id).status == 3
        assert raw_status(harness, run) == "completed"
        assert command("redo", text(run.schedule_time)).status == 0
        assert harness.raw(run.run_id) is None

    def test_of_a_record_that_changes_meanwhile(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        end(harness, run)

        def edited() -> Reply:
            harness.edit(run.run_id, {"job_name": "other"})
            return told("duplicate", run)

        with pretending(edited) as url:
            done = command("redo", run.run_id, "--url", url)
        assert done.status == 3
        assert "has changed" in done.err
        assert raw_status(harness, run) == "completed"


@movable
class TestRunThatIsAhead:
    @pytest.mark.parametrize("forced_runs", ["separate", "shared"])
    def test_is_left_to_cloud_scheduler(
        self, harness: Harness, command: Command, service: Served, forced_runs: str
    ) -> None:
        """R06: delivered now, it would be a forced run, or be done before its time."""
        ahead = text(harness.now() + timedelta(hours=1))
        for argv in (["--url", service.url], [], ["--dry-run"]):
            done = command("redo", ahead, *argv, FORCED_RUNS=forced_runs)
            assert (done.status, done.out) == (3, "")
            assert "still ahead" in done.err
        assert not service.requests

    def test_with_a_record_of_the_scheduled_run_is_left_alone_too(
        self, harness: Harness, command: Command
    ) -> None:
        """R06: by its run id and by its time."""
        ahead = harness.now() + timedelta(hours=1)
        run = end(harness, run_at(ahead))
        for name in (run.run_id, text(ahead)):
            assert command("redo", name).status == 3
        assert raw_status(harness, run) == "completed"


@movable
class TestTimeFinerThanMicroseconds:
    """R03: a record keeps microseconds of a time, its key all of it."""

    TIME = "2026-10-16T11:00:00.123456789Z"

    def test_is_named_by_all_of_it(
        self, harness: Harness, command: Command, service: Served
    ) -> None:
        delivery = Delivery("nightly", Instant.parse(self.TIME), "", "")
        run_id = delivery.run_id(SERVICE, Trigger.SCHEDULED)
        run = end(harness, Run(run_id, "nightly", delivery.schedule_time.moment, "", "", False))
        done = command("redo", run.run_id)
        assert done.status == 3
        assert "more than six digits" in done.err
        assert "finer than microseconds" in command("show", run.run_id).out
        assert command("redo", self.TIME, "--url", service.url).status == 0


class TestForcedRun:
    def test_ahead_of_its_time_is_delivered_as_one(
        self, harness: Harness, command: Command, service: Served, work: Work
    ) -> None:
        """R06."""
        ahead = harness.now().replace(microsecond=0) + timedelta(hours=1)
        forced = end(harness, run_at(ahead, forced=True))
        for run in (forced.run_id, text(ahead)):
            assert command("redo", run, "--url", service.url).status == 0
        assert [(each.run_id, each.forced) for each in work.attempts] == [(forced.run_id, True)] * 2

    @movable
    def test_is_the_scheduled_run_where_they_are_shared(
        self, harness: Harness, command: Command
    ) -> None:
        ahead = harness.now() + timedelta(hours=1)
        run = end(harness, run_at(ahead))
        data = command.data("redo", text(ahead), "--dry-run", FORCED_RUNS="shared")
        assert data["run_id"] == run.run_id


def test_dry_run_changes_nothing(
    harness: Harness, command: Command, service: Served, run: Run
) -> None:
    end(harness, run)
    before = harness.raw(run.run_id)
    for argv in ([], ["--url", service.url]):
        done = command("redo", run.run_id, "--dry-run", *argv, "--json")
        assert done.status == 0
        assert done.data.keys() == FIELDS
        assert (done.data["deleted"], done.data["delivered"]) == (False, False)
        assert command("redo", run.run_id, "--dry-run", *argv).out.startswith("Would delete")
    assert harness.raw(run.run_id) == before
    assert not service.requests


@movable
def test_says_where_the_printed_command_goes(command: Command, run: Run) -> None:
    argv = ("redo", text(run.schedule_time), "--dry-run")
    assert "the service's URL in the variable SERVICE_URL:\ncurl " in command(*argv).out
    assert "SERVICE_URL" not in command(*argv, "--url", "http://localhost:8080/").out
