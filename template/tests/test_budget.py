"""`python -m dev.budget`, which `make check` runs (R31)."""

import json
from collections.abc import Mapping

import pytest

from dev.budget import main

USUAL = {
    "JOB_ID": "nightly",
    "SCHEDULE": "*/15 * * * *",
    "TIME_ZONE": "Etc/UTC",
    "ATTEMPT_DEADLINE_SECONDS": "180",
    "REQUEST_TIMEOUT_SECONDS": "180",
    "LEASE_SECONDS": "60",
}


class Ran:
    """What the command printed, and its exit status."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err


class Command:
    """Runs the command in an environment."""

    def __init__(self, environ: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]) -> None:
        self._environ = environ
        self._output = output

    def __call__(self, *arguments: str, environ: Mapping[str, str] = {}) -> Ran:
        for name, value in {**USUAL, **environ}.items():
            self._environ.setenv(name, value)
        status = main(arguments)
        return Ran(status, *self._output.readouterr())


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command, for a kind of service that needs no time to settle."""
    monkeypatch.setattr("dev.budget.settle_time", lambda kind: 0.0)
    return Command(monkeypatch, capsys)


class TestTimeline:
    def test_shows_the_retries_and_the_takeovers(self, budget: Command) -> None:
        """R31: attempts, back-off, next schedule, and when a dead attempt can be taken over."""
        ran = budget()
        lines = ran.out.splitlines()
        assert (ran.status, ran.err) == (0, "")
        assert lines[0] == "Retries of nightly, */15 * * * * in Etc/UTC"
        assert "900 s later" in lines[1]
        assert "0, 8, 24, 56, 120, 248 s" in ran.out
        assert [line.split("  free at ")[1] for line in lines if "free at" in line] == [
            "60 s, taken over by retry 4 at 120 s",
            "240 s, taken over by retry 4 at 300 s",
            "240 s, taken over by retry 5 at 248 s",
        ]

    def test_warns_of_what_is_not_made_good(self, budget: Command) -> None:
        """R31: no failure, and the setting to change."""
        ran = budget(environ={"SCHEDULE": "*/5 * * * *"})
        assert ran.status == 0
        assert "not tried again" in ran.out
        assert ran.err.startswith("! An attempt whose connection breaks")
        assert "ATTEMPT_DEADLINE_SECONDS (`attempt_deadline`) of 115 or less" in ran.err

    def test_counts_the_shortest_interval_in_the_time_zone(self, budget: Command) -> None:
        """R31: an hour that comes twice brings a daily job's runs together."""
        environ = {"SCHEDULE": "30 2 * * *", "TIME_ZONE": "Europe/Paris"}
        assert "3600 s later" in budget(environ=environ).out


class TestRefusal:
    def test_fails_with_the_settings_to_change(self, budget: Command) -> None:
        """R31."""
        ran = budget(environ={"SCHEDULE": "*/4 * * * *"})
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("✗ A crash could lose the run")
        assert "LEASE_SECONDS (`lease`) of 50 or less" in ran.err

    def test_lists_all_settings_that_make_no_sense(self, budget: Command) -> None:
        """R30, R31."""
        ran = budget(environ={"SCHEDULE": "every 5 minutes", "LEASE_SECONDS": "soon"})
        assert (ran.status, ran.out) == (2, "")
        assert "unix-cron" in ran.err
        assert "LEASE_SECONDS" in ran.err


class TestSettings:
    def test_are_printed_for_programs(self, budget: Command) -> None:
        """R31."""
        assert json.loads(budget("--json").out) == {
            "retry_count": 5,
            "min_backoff": 8,
            "max_backoff": 128,
            "max_doublings": 5,
            "max_retry_duration": 0,
        }

    def test_are_printed_as_flags(self, budget: Command) -> None:
        """R31."""
        assert budget("--flags").out.split() == [
            "--max-retry-attempts=5",
            "--min-backoff=8s",
            "--max-backoff=128s",
            "--max-doublings=5",
            "--max-retry-duration=0s",
        ]

    @pytest.mark.parametrize("form", ["--json", "--flags"])
    def test_are_not_printed_where_they_would_lose_runs(self, budget: Command, form: str) -> None:
        """R31."""
        ran = budget(form, environ={"SCHEDULE": "* * * * *"})
        assert (ran.status, ran.out) == (1, "")
