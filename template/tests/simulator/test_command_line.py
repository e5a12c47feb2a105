"""What the simulator can be told, and what it does without being told."""

from datetime import UTC, datetime

import pytest

from app import defaults
from app.backoff import RetryConfig
from app.kinds import settle_time
from app.retry_budget import Times, retry_config
from dev.kinds import scenarios
from dev.options import parse
from dev.plan import Fault
from dev.scheduler import planned_runs

TIME = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)
DEADLINE = {"ATTEMPT_DEADLINE_SECONDS": "180"}
QUARTERS = ["--schedule", "*/15 * * * *", "--time-zone", "Etc/UTC"]


def derived(*, deadline: float, lease: float) -> RetryConfig:
    """The retries of this project's kind of job every 15 minutes."""
    return retry_config(Times(deadline, deadline, lease, 900, settle_time(defaults.KIND)))


class TestCommandLine:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--schedule", "every 5 minutes"], "unix-cron"),
            (["--time-zone", "Nowhere"], "tz database"),
            (["--url", "ftp://h/"], "http or https"),
            (["--url", "http://h/", "--kill", "in-job"], "leave --url out"),
            (["--url", "http://h/", "--lost-answer"], "leave --url out"),
            (["--url", "http://h/", "--scenario", "crash-in-job"], "leave --url out"),
            (["--scenario", "forced", "--runs", "2"], "leave the other options out"),
            (["--retry-count", "6"], "0 to 5"),
            (["--min-backoff", "nan"], "number of seconds"),
            (["--lease", "4"], "5 or more"),
            (["--header", "no colon"], "NAME: VALUE"),
            (["--runs", "0"], "1 or more"),
        ],
    )
    def test_mistakes_are_explained(
        self, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as stop:
            parse(arguments, {}, TIME)

        assert stop.value.code == 2
        assert message in capsys.readouterr().err

    def test_without_options_plays_the_telling_scenarios(self) -> None:
        runs = planned_runs(parse([], {}, TIME), TIME)

        assert [run.forced for run in runs[:-1]] == [True, *(False for run in runs[1:-1])]
        assert len(runs) == sum(each.by_default for each in scenarios()) + 1
        assert runs[0].schedule_time == runs[-1].schedule_time > TIME
        assert {fault for run in runs for fault in run.faults} == {
            Fault.LOST_ANSWER,
            Fault.KILL_AFTER_CLAIM,
        }

    def test_tells_every_kinds_faults_in_words_that_fit_it(self) -> None:
        """Not every kind of service runs a job of its own."""
        assert not any("job" in scenario.title for scenario in scenarios())

    def test_forces_nothing_where_keys_name_the_runs(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """R37: such a run has no time that it could be ahead of."""
        monkeypatch.setattr("dev.options.trait", lambda name: "Key" * (name == "KEY_HEADER"))
        for arguments in ([], ["--scenario", "all"]):
            runs = planned_runs(parse(arguments, {}, TIME), TIME)
            assert not any(run.forced or run.due for run in runs)
        for refused in (["--forced"], ["--scenario", "forced"]):
            with pytest.raises(SystemExit):
                parse(refused, {}, TIME)
            capsys.readouterr()
        with pytest.raises(SystemExit):
            parse(["--help"], {}, TIME)
        assert "forced" not in capsys.readouterr().out

    def test_retries_soon_as_short_attempts_and_leases_allow(self) -> None:
        """R31."""
        assert parse(QUARTERS, {}, TIME).retry == derived(deadline=15, lease=5)
        longer = [*QUARTERS, "--lease", "60"]
        assert parse(longer, {}, TIME).retry == derived(deadline=15, lease=60)

    def test_in_real_time_retries_as_the_job_would(self) -> None:
        """R31: from the attempt deadline, the lease and the schedule."""
        options = parse([*QUARTERS, "--real-time", "--lease", "60"], DEADLINE, TIME)
        assert options.retry == derived(deadline=180, lease=60)

    def test_explains_where_no_retries_would_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        """R31."""
        with pytest.raises(SystemExit):
            parse(["--real-time", "--schedule", "* * * * *"], DEADLINE, TIME)
        message = capsys.readouterr().err
        assert "A crash could lose the run" in message
        assert "--retry-count" in message

    def test_retries_as_it_is_told_with_the_defaults_of_cloud_scheduler(self) -> None:
        assert parse(["--retry-count", "2"], {}, TIME).retry == RetryConfig(2)
        assert parse(["--min-backoff", "0.5"], {}, TIME).retry == RetryConfig(5, 0.5)

    def test_combines_faults_in_an_order_in_which_all_can_strike(self) -> None:
        arguments = ["--runs", "2", "--lost-answer", "--kill", "in-job", "--duplicates", "3"]
        runs = planned_runs(parse(arguments, {}, TIME), TIME)

        assert [run.copies for run in runs] == [3, 3]
        assert runs[0].faults == (Fault.KILL_IN_JOB, Fault.LOST_ANSWER)

    def test_in_real_time_waits_for_the_times_to_come(self) -> None:
        runs = planned_runs(parse(["--real-time", "--runs", "2", "--forced"], {}, TIME), TIME)

        assert [run.forced for run in runs] == [True, False, False]
        assert [run.due is None or run.due > TIME for run in runs] == [True, True, True]
        assert runs[1].until == runs[2].due

    def test_offers_a_running_server_what_needs_no_control(self) -> None:
        options = parse(["--url", "http://h/", "--scenario", "all"], {}, TIME)

        assert [each.name for each in options.scenarios] == ["duplicates", "forced"]
