"""`list`, `show` and `stuck` tell what the records say (R40), on every store."""

import math
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from app.dedup.record import Status
from tests.support.command import Command, begin, end, run_at, text
from tests.support.stores import Harness

HOUR = timedelta(hours=1)

FIELDS = {
    "run_id",
    "state",
    "own_key",
    "status",
    "attempt_id",
    "job_name",
    "schedule_time",
    "project",
    "location",
    "forced",
    "claimed_at",
    "finished_at",
    "payload_sha256",
    "result",
    "written_at",
    "lease_seconds",
    "lease_expires",
    "lease_left",
    "expire_at",
}
"""Scripts rely on these names: none is renamed or removed."""


@pytest.fixture
def kept(harness: Harness, due: datetime) -> dict[str, str]:
    """Keep a run of each state; return their keys by state."""
    runs = {
        "completed": end(harness, run_at(due - 2 * HOUR), result='{"rows":3}'),
        "failed": end(harness, run_at(due - HOUR), Status.FAILED),
        "running": begin(harness, run_at(due)).run,
        "stuck": begin(harness, run_at(due + HOUR / 2), lease=0.0).run,
    }
    harness.plant("e" * 64, {"status": "paused"})
    return {state: run.run_id for state, run in runs.items()} | {"unreadable": "e" * 64}


class TestList:
    def test_has_every_record_by_its_time(self, command: Command, kept: dict[str, str]) -> None:
        records = command.data("list")["records"]
        assert [(each["run_id"], each["state"]) for each in records] == [
            (kept[state], state)
            for state in ("unreadable", "completed", "failed", "running", "stuck")
        ]

    def test_has_the_same_fields_for_every_record(
        self, command: Command, kept: dict[str, str]
    ) -> None:
        assert all(each.keys() == FIELDS for each in command.data("list")["records"])

    def test_is_what_no_argument_means(self, command: Command, kept: dict[str, str]) -> None:
        assert command().out == command("list").out

    @pytest.mark.parametrize("status", ["completed", "failed"])
    def test_may_be_of_one_status(
        self, command: Command, kept: dict[str, str], status: str
    ) -> None:
        records = command.data("list", "--status", status)["records"]
        assert [each["run_id"] for each in records] == [kept[status]]

    def test_may_be_of_one_job(
        self, harness: Harness, command: Command, kept: dict[str, str], due: datetime
    ) -> None:
        other = end(harness, run_at(due, job="other"))
        records = command.data("list", "--job", "other")["records"]
        assert [each["run_id"] for each in records] == [other.run_id]

    def test_may_be_of_a_span_of_schedule_times(
        self, command: Command, kept: dict[str, str], due: datetime
    ) -> None:
        span = ("--since", text(due - HOUR), "--until", text(due))
        records = command.data("list", *span)["records"]
        assert [each["run_id"] for each in records] == [kept["failed"]]

    def test_may_begin_some_time_ago(self, command: Command, kept: dict[str, str]) -> None:
        records = command.data("list", "--since", "90m")["records"]
        assert [each["state"] for each in records] == ["running", "stuck"]

    def test_refuses_a_span_that_ends_before_it_begins(self, command: Command) -> None:
        done = command("list", "--since", "1h", "--until", "2h")
        assert done.status == 2
        assert "--since must be before --until" in done.err

    def test_is_a_table_for_people(self, command: Command, kept: dict[str, str]) -> None:
        done = command("list")
        lines = done.out.splitlines()
        assert done.status == 0
        assert lines[0].startswith("SCHEDULE TIME  ")
        assert [line.split()[-1] for line in lines[1:-1]] == [
            kept[state] for state in ("unreadable", "completed", "failed", "running", "stuck")
        ]
        assert lines[-1] == "5 records in sqlite:///runs.db."

    def test_does_not_call_scheduled_what_no_schedule_made(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R37: the run of a token, which is a step's or a guarded command's."""
        end(harness, replace(run_at(due), job_name="token", schedule_time=None))
        assert command("list").out.splitlines()[1].split()[:4] == ["-", "token", "completed", "-"]

    def test_of_nothing_says_so(self, command: Command) -> None:
        assert command("list").out == "0 records in sqlite:///runs.db.\n"
        assert command.data("list") == {"records": []}

    def test_shows_no_password(self, command: Command) -> None:
        """R39."""
        done = command("list", RUN_STORE_URL="other://:hidden@host/1")
        assert done.status == 2
        assert "hidden" not in done.out + done.err

    def test_lets_no_record_write_to_the_terminal(self, harness: Harness, command: Command) -> None:
        """R17: whatever somebody wrote into the store."""
        harness.plant("e" * 64, {"status": "completed", "job_name": "\x1b[2J\n\u202emine"})
        for argv in (["list"], ["show", "e" * 64]):
            assert all(char.isprintable() or char == "\n" for char in command(*argv).out)
            assert "?[2J" in command(*argv).out


class TestShow:
    def test_takes_a_run_id(self, command: Command, kept: dict[str, str]) -> None:
        for state, run_id in kept.items():
            (record,) = command.data("show", run_id)["records"]
            assert (record["run_id"], record["state"]) == (run_id, state)
            assert record.keys() == FIELDS

    def test_takes_a_schedule_time_in_any_spelling(
        self, command: Command, kept: dict[str, str], due: datetime
    ) -> None:
        """R03: as it stands in a log line or in Cloud Scheduler's header."""
        for time in (text(due), due.isoformat(), text(due).replace("Z", ".000-00:00")):
            (record,) = command.data("show", time)["records"]
            assert record["run_id"] == kept["running"]

    def test_of_a_time_has_the_scheduled_and_the_forced_run(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R06."""
        runs = [end(harness, run_at(due, forced=forced)) for forced in (False, True)]
        records = command.data("show", text(due))["records"]
        assert [each["run_id"] for each in records] == [run.run_id for run in runs]

    def test_has_all_that_is_known(self, harness: Harness, command: Command, due: datetime) -> None:
        run = end(harness, run_at(due), result='{"rows":3}')
        (record,) = command.data("show", run.run_id)["records"]
        assert record["own_key"] is True
        assert record["status"] == "completed"
        assert record["job_name"] == "nightly"
        assert record["schedule_time"] == text(due)
        assert record["result"] == {"rows": 3}
        assert record["forced"] is False
        assert record["lease_left"] is None
        assert datetime.fromisoformat(record["finished_at"]) >= datetime.fromisoformat(
            record["claimed_at"]
        )

    def test_tells_the_lease_that_is_left(
        self, harness: Harness, command: Command, kept: dict[str, str]
    ) -> None:
        """R16: by the store's clock."""
        (running,) = command.data("show", kept["running"])["records"]
        (stuck,) = command.data("show", kept["stuck"])["records"]
        assert 30 < running["lease_left"] <= 60
        assert stuck["lease_left"] <= 0

    def test_tells_a_key_of_another_service(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R08: staging beside production on one store."""
        run = end(harness, run_at(due, service="staging"))
        (record,) = command.data("show", run.run_id)["records"]
        assert record["own_key"] is False
        assert "SERVICE=nightly-report" in command("show", run.run_id).out
        assert command("show", text(due)).status == 1
        assert command("show", text(due), SERVICE="staging").status == 0

    def test_is_readable_for_people(self, command: Command, kept: dict[str, str]) -> None:
        lines = command("show", kept["completed"]).out.splitlines()
        assert f"run id         {kept['completed']}" in lines
        assert 'result         {"rows": 3}' in lines

    def test_of_nothing_is_told_by_its_exit_status(self, command: Command, due: datetime) -> None:
        for run in ("0" * 64, text(due)):
            assert command("show", run).status == 1
            assert command.data("show", run) == {"records": []}

    @pytest.mark.parametrize("run", ["", "abc", "A" * 64, "0" * 63, "2026-10-16", "yesterday"])
    def test_of_neither_is_refused_with_both_forms(self, command: Command, run: str) -> None:
        done = command("show", run)
        assert done.status == 2
        assert "run id" in done.err
        assert "schedule time" in done.err


class TestStuck:
    def test_has_what_does_not_go_on_by_itself(
        self, harness: Harness, command: Command, kept: dict[str, str]
    ) -> None:
        done = command("stuck", "--json")
        assert done.status == 1
        assert {each["run_id"]: each["state"] for each in done.data["records"]} == {
            kept["stuck"]: "stuck",
            kept["unreadable"]: "unreadable",
        }
        assert all(each.keys() == FIELDS | {"reason"} for each in done.data["records"])

    def test_says_what_to_do(self, command: Command, kept: dict[str, str]) -> None:
        done = command("stuck")
        assert done.status == 1
        assert kept["stuck"] in done.out
        assert "redo it" in done.out
        assert "correct it by hand" in done.out

    def test_may_be_of_one_job(self, command: Command, kept: dict[str, str]) -> None:
        assert len(command.data("stuck", "--job", "nightly")["records"]) == 1
        assert command("stuck", "--job", "other").status == 0

    def test_is_nothing_while_leases_live(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        begin(harness, run_at(due))
        end(harness, run_at(due - HOUR))
        done = command("stuck")
        assert (done.status, done.out) == (0, "Nothing is stuck in sqlite:///runs.db.\n")
        assert command.data("stuck") == {"records": []}


def test_an_endless_lease_is_no_number(harness: Harness, command: Command) -> None:
    """R17: where nothing says when a record was written, JSON has no word for its lease."""
    harness.plant("e" * 64, {"status": "in_progress"})
    record = harness.open().get("e" * 64, timeout=10.0)
    assert record is not None
    left = command.data("show", "e" * 64)["records"][0]["lease_left"]
    assert (left is None) is math.isinf(record.lease_left())
