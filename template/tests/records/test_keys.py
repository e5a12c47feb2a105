"""The command of a step: its runs are named by keys, and no schedule tells of them (R37, R40)."""

from datetime import timedelta

import pytest

from app.dedup.step import Step
from app.dedup.store import Run
from app.kinds import step
from tests.support.command import SERVICE, Command, begin, end
from tests.support.stores import Harness, movable


@pytest.fixture(autouse=True)
def goes_by_keys(goes_by_schedule: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be the command of a step, whatever this project is."""
    monkeypatch.setattr("app.kinds.trait", lambda name: getattr(step, name, ""))


@pytest.fixture
def run(harness: Harness) -> Run:
    """The run of a key."""
    return Step("order 7", step.TRIGGER).run(SERVICE, harness.now(), separate_forced_runs=False)


class TestHelp:
    @movable
    def test_offers_nothing_of_schedules(self, command: Command) -> None:
        helps = [command("--help").out]
        helps += [command(name, "--help").out for name in ("list", "show", "stuck", "release")]
        for word in ("missed", "redo", "schedule", "JOB_ID", "TIME_ZONE", "this job"):
            assert word.lower() not in "".join(helps).lower()

    @movable
    @pytest.mark.parametrize(
        "argv",
        [
            ["missed", "--since", "1h"],
            ["redo", "0" * 64],
            ["show", "2026-10-16T12:00:00Z"],
            ["release", "2026-10-16T12:00:00Z"],
        ],
    )
    def test_refuses_what_only_schedules_have(self, command: Command, argv: list[str]) -> None:
        done = command(*argv)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("usage: python -m app.records")


class TestList:
    def test_says_what_asked_and_when(self, harness: Harness, command: Command, run: Run) -> None:
        end(harness, run)
        heading, row, _ = command("list").out.splitlines()
        assert heading.split()[:4] == ["CLAIMED", "KEY", "STATE", "TRIGGER"]
        (record,) = command.data("list")["records"]
        assert row.startswith(record["claimed_at"][:19])
        assert row.split()[1:5] == ["order", "7", "completed", "step"]

    def test_goes_by_the_time_of_the_claim(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        end(harness, run)
        ahead = (harness.now() + timedelta(hours=1)).isoformat()
        for span, found in (
            (["--since", "1h"], True),
            (["--until", "1h"], False),
            (["--since", ahead], False),
            (["--until", ahead], True),
        ):
            records = command.data("list", *span)["records"]
            assert [each["run_id"] for each in records] == [run.run_id] * found


def test_of_a_stuck_run_says_what_takes_it_over(
    harness: Harness, command: Command, run: Run
) -> None:
    begin(harness, run, lease=0.0)
    done = command("stuck")
    assert done.status == 1
    assert "the next request with its key takes it over" in done.out


def test_of_a_run_that_has_ended_says_how_it_is_asked_for_again(
    harness: Harness, command: Command, run: Run
) -> None:
    end(harness, run)
    done = command("release", run.run_id)
    assert done.status == 3
    assert "under a new Idempotency-Key it is asked for again" in done.err


def test_knows_its_own_records(harness: Harness, command: Command, run: Run) -> None:
    end(harness, run)
    (record,) = command.data("show", run.run_id)["records"]
    assert record["own_key"]
