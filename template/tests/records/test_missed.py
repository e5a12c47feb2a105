"""`missed` finds exactly the runs that were not completed (R40; bug row 42)."""

import random
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.dedup.attempt import Attempt, GiveUp
from app.dedup.delivery import Trigger
from app.dedup.record import Status
from tests.support.command import Command, begin, end, run_at, text
from tests.support.protocol import Instance, run_id_at
from tests.support.stores import Harness, movable
from tests.support.stores.sqlite import SqliteHarness

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

FIELDS = {
    "job_name",
    "project",
    "location",
    "schedule",
    "time_zone",
    "since",
    "until",
    "expected",
    "missed",
}
RUN_FIELDS = {"schedule_time", "local_time", "repeated", "state", "run_id"}
"""Scripts rely on these names: none is renamed or removed."""

NOONS = [
    datetime(2026, 3, 29, 12, tzinfo=ZoneInfo("Europe/Paris")),
    datetime(2026, 10, 25, 12, tzinfo=ZoneInfo("Europe/Paris")),
    datetime(2026, 3, 8, 12, tzinfo=ZoneInfo("America/New_York")),
    datetime(2026, 11, 1, 12, tzinfo=ZoneInfo("America/New_York")),
]
"""Noon of the days on which the clocks change."""

SCHEDULES: dict[str, Callable[[datetime], bool]] = {
    "0 * * * *": lambda wall: wall.minute == 0,
    "*/20 1-3 * * *": lambda wall: wall.minute % 20 == 0 and wall.hour in (1, 2, 3),
    "30 1,2 * * *": lambda wall: wall.minute == 30 and wall.hour in (1, 2),
}
"""Schedules, and what somebody with a watch would say instead."""


@pytest.fixture(params=NOONS, ids=lambda noon: f"{noon:%B}-{noon.tzinfo}")
def noon(request: pytest.FixtureRequest) -> datetime:
    """The middle of two days between which the clocks change."""
    middle: datetime = request.param
    return middle


def due_times(schedule: str, noon: datetime) -> list[datetime]:
    """Return when somebody who watches the clock around `noon` for two days would start a run."""
    first = noon.astimezone(UTC) - 24 * HOUR
    minutes = (first + number * MINUTE for number in range(48 * 60))
    return [each for each in minutes if SCHEDULES[schedule](each.astimezone(noon.tzinfo))]


def times(data: dict[str, Any]) -> list[str]:
    return [each["schedule_time"] for each in data["missed"]]


class Day:
    """A simulated Cloud Scheduler, and a service that does what a day does to it."""

    def __init__(self, harness: SqliteHarness, chance: random.Random) -> None:
        self._harness = harness
        self._chance = chance
        self._instance = Instance(harness)

    def run(self, time: datetime) -> str:
        """Let the run of a time happen or not; return its state as `missed` has it."""
        self._harness.fake.wall = time
        fate = self._chance.choice(
            ["completed", "twice", "retried", "forced", "dropped", "gave up", "crash", "error"]
        )
        match fate:
            case "completed":
                self._instance.deliver(time)
            case "twice":
                self._instance.deliver(time)
                self._instance.deliver(time)
            case "retried":
                self._instance.deliver(time, _fail)
                self._instance.deliver(time)
            case "forced":
                # Of the run before its time, which has a key of its own, nothing counts here.
                self._harness.fake.wall = time - MINUTE
                self._instance.deliver(time)
                return "no_record"
            case "dropped":
                return "no_record"
            case "gave up":
                self._instance.deliver(time, _give_up)
                return "failed"
            case "crash":
                begin(self._harness, run_at(time))
                return "stuck"
            case "error":
                self._instance.deliver(time, _fail)
                return "no_record"
        return "completed"


def _fail(attempt: Attempt) -> None:
    raise ValueError("as the day wants it")


def _give_up(attempt: Attempt) -> None:
    raise GiveUp("as the day wants it")


class TestTwoDaysAcrossAChangeOfTheClocks:
    @pytest.mark.parametrize("harness", ["sqlite"], indirect=True)
    @pytest.mark.parametrize("schedule", SCHEDULES)
    def test_have_exactly_the_runs_missed_that_were_dropped(
        self, harness: SqliteHarness, command: Command, noon: datetime, schedule: str
    ) -> None:
        """With the whole protocol at work, at each time as it comes."""
        day = Day(harness, random.Random(f"{noon} {schedule}"))
        states = {time: day.run(time) for time in due_times(schedule, noon)}
        harness.fake.wall = noon.astimezone(UTC) + 24 * HOUR
        since = text(noon.astimezone(UTC) - 24 * HOUR)
        done = command(
            *("missed", "--since", since, "--json"), SCHEDULE=schedule, TIME_ZONE=str(noon.tzinfo)
        )
        assert done.status == 1
        assert done.data["expected"] == len(states)
        assert {each["schedule_time"]: each["state"] for each in done.data["missed"]} == {
            text(time): state for time, state in states.items() if state != "completed"
        }

    def test_have_them_missed_on_every_store(
        self, harness: Harness, command: Command, noon: datetime
    ) -> None:
        """R03: each pass of a repeated hour is a run of its own."""
        schedule = "30 1,2 * * *"
        expected = due_times(schedule, noon)
        dropped = expected[1::2]
        for time in expected[::2]:
            end(harness, run_at(time))
        command.now = noon.astimezone(UTC) + 24 * HOUR
        argv = ("missed", "--since", "2d")
        missed = command.data(*argv, SCHEDULE=schedule, TIME_ZONE=str(noon.tzinfo))["missed"]
        assert [(each["schedule_time"], each["run_id"]) for each in missed] == [
            (text(time), run_id_at(time)) for time in dropped
        ]

    def test_tell_the_local_time_and_whether_it_came_twice(self, command: Command) -> None:
        """Cloud Scheduler does not say what it does about such a time, so a person has to know."""
        command.now = datetime(2026, 10, 25, 3, tzinfo=UTC)
        argv = ("missed", "--since", "4h")
        environ = {"SCHEDULE": "30 * * * *", "TIME_ZONE": "Europe/Paris"}
        assert [
            (each["local_time"], each["repeated"])
            for each in command.data(*argv, **environ)["missed"]
        ] == [
            ("2026-10-25T01:30:00+02:00", False),
            ("2026-10-25T02:30:00+02:00", True),
            ("2026-10-25T02:30:00+01:00", True),
            ("2026-10-25T03:30:00+01:00", False),
        ]
        assert "came twice" in command(*argv, **environ).out
        assert "came twice" not in command("missed", "--since", "1h", **environ).out


class TestMissed:
    def test_are_told_with_the_same_fields_always(self, command: Command) -> None:
        data = command.data("missed", "--since", "1h")
        assert data.keys() == FIELDS
        assert all(each.keys() == RUN_FIELDS for each in data["missed"])
        assert len(data["missed"]) == data["expected"] == 4

    def test_are_none_when_all_were_completed(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        since, until = due.replace(minute=0), due.replace(minute=0) + HOUR / 2
        for time in (since, since + HOUR / 4):
            end(harness, run_at(time))
        argv = ("missed", "--since", text(since), "--until", text(until))
        done = command(*argv)
        assert (done.status, done.out.split(":")[0]) == (0, "All 2 runs were completed")
        assert command.data(*argv)["missed"] == []

    def test_are_told_with_what_their_record_says(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        first = due.replace(minute=0)
        begin(harness, run_at(first))
        begin(harness, run_at(first + HOUR / 4), lease=0.0)
        end(harness, run_at(first + HOUR / 2), Status.FAILED)
        argv = ("missed", "--since", text(first), "--until", text(first + HOUR))
        assert [each["state"] for each in command.data(*argv)["missed"]] == [
            "running",
            "stuck",
            "failed",
            "no_record",
        ]
        lines = command(*argv).out.splitlines()
        assert len([line for line in lines if line.startswith(f"{first:%Y-%m-%dT%H}")]) == 4
        assert "4 of 4 runs were not completed" in command(*argv).out

    def test_are_no_runs_that_a_person_has_written_completed(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R17: with nothing but a status."""
        time = due.replace(minute=0)
        harness.plant(run_at(time).run_id, {"status": "completed"})
        argv = ("--since", text(time), "--until", text(time + MINUTE))
        assert command.data("missed", *argv)["missed"] == []

    def test_are_looked_up_in_few_calls(self, harness: Harness, command: Command) -> None:
        """R40: thousands of expected runs, some hundred to a call."""
        end(harness, run_at(harness.now().replace(second=0, microsecond=0)))
        harness.faults.calls.clear()
        data = command.data("missed", "--since", "2d", SCHEDULE="* * * * *")
        assert data["expected"] == 2880
        assert len(harness.faults.calls) <= 11

    def test_are_not_made_up_for_by_a_forced_run(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R06."""
        time = due.replace(minute=0)
        end(harness, run_at(time, forced=True))
        argv = ("--since", text(time), "--until", text(time + MINUTE))
        assert times(command.data("missed", *argv)) == [text(time)]

    def test_are_those_of_one_job_and_one_service(
        self, harness: Harness, command: Command, due: datetime
    ) -> None:
        """R08."""
        time = due.replace(minute=0)
        end(harness, run_at(time))
        argv = ("missed", "--since", text(time), "--until", text(time + MINUTE))
        assert command(*argv).status == 0
        assert command(*argv, "--job", "other").status == 1
        assert command(*argv, JOB_ID="other").status == 1
        assert command(*argv, SERVICE="staging").status == 1

    def test_are_none_of_the_future(self, harness: Harness, command: Command) -> None:
        until = text(harness.now() + 3 * HOUR)
        data = command.data("missed", "--since", "1h", "--until", until)
        assert data["expected"] == 4

    def test_have_keys_with_the_scope_of_the_job(self, command: Command, due: datetime) -> None:
        """R05."""
        time = due.replace(minute=0)
        argv = ("missed", "--since", text(time), "--until", text(time + MINUTE))
        scope = ("--project", "p", "--location", "l")
        (run,) = command.data(*argv, *scope, JOB_SCOPE="path")["missed"]
        assert run["run_id"] != run_id_at(time, Trigger.SCHEDULED)
        (same,) = command.data(
            *argv, "--location", "l", JOB_SCOPE="header", GOOGLE_CLOUD_PROJECT="p"
        )["missed"]
        assert same == run


class TestRefusal:
    @movable
    def test_of_what_is_no_longer_kept(self, command: Command) -> None:
        """R29: a run whose record is gone is not a run that was missed."""
        assert command("missed", "--since", "48h").status == 1
        done = command("missed", "--since", "172801s")
        assert done.status == 2
        assert "RETENTION_SECONDS" in done.err
        assert "2026-10-14T12:00:00Z" in done.err
        assert command("missed", "--since", "2h", RETENTION_SECONDS="3600").status == 2

    @movable
    def test_of_too_many_times_names_a_span_with_fewer(
        self, harness: Harness, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A year of minutes would never end."""
        monkeypatch.setattr("app.records.missed._MOST_TIMES", 1000)
        year = {"SCHEDULE": "* * * * *", "RETENTION_SECONDS": str(365 * 86_400)}
        done = command("missed", "--since", "365d", **year)
        assert (done.status, done.out) == (2, "")
        assert harness.faults.calls == []
        assert "more than 1000 scheduled times" in done.err
        span = shlex.split(done.err.partition("at once: ")[2])
        assert span[::2] == ["--since", "--until"]
        assert command.data("missed", *span, **year)["expected"] == 1000

    @movable
    @pytest.mark.parametrize(
        ("argv", "named"),
        [
            ((), "--since"),
            (("--since", "soon"), "90m, 36h or 2d"),
            (("--since", "999999d"), "90m, 36h or 2d"),
            (("--since", "2026-10-16T13:00:00Z"), "--since must be before"),
            (("--since", "1h", "--until", "2h"), "--since must be before"),
            (("--since", "1h", "--project", "p"), "JOB_SCOPE is none"),
        ],
    )
    def test_of_a_command_line_names_what_is_wrong(
        self, command: Command, argv: tuple[str, ...], named: str
    ) -> None:
        done = command("missed", *argv)
        assert (done.status, done.out) == (2, "")
        assert named in done.err

    @movable
    @pytest.mark.parametrize(
        ("environ", "named"),
        [
            ({"SCHEDULE": "every 5 minutes"}, "SCHEDULE: 'every 5 minutes' is not unix-cron"),
            ({"TIME_ZONE": "Mars/Olympus"}, "TIME_ZONE: 'Mars/Olympus'"),
            ({"JOB_ID": "no job"}, "no job id"),
            ({"JOB_SCOPE": "query"}, "--location"),
        ],
    )
    def test_of_an_environment_names_the_variable(
        self, command: Command, environ: dict[str, str], named: str
    ) -> None:
        """R30; R05."""
        done = command("missed", "--since", "1h", **environ)
        assert (done.status, done.out) == (2, "")
        assert named in done.err
