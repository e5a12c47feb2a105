"""Schedules that are drawn from seeds."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from proof import crowd
from proof.__main__ import main
from proof.crowd import Crowd
from proof.figures import Figures
from proof.schedule import Seed
from proof.story import told
from tests.proof import plants
from tests.proof.plants import Plant, planted

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]

SLICE: Final = range(1, 1001)

FEW: Final = 20

FOUND: Final[list[tuple[Plant, str]]] = [
    (plants.FINAL_IS_TAKEN, "changed a final record"),
    (plants.LIVE_IS_TAKEN, "wrote over a live claim"),
    (plants.DEAD_IS_KEPT, "was told to wait for a claim whose lease was over"),
    (plants.OWN_IS_REFUSED, "was told to wait for nobody"),
    (plants.ALL_IS_OURS, "changed a final record"),
    (plants.NO_LOOK_BEFORE_THE_WORK, "started its job"),
    (plants.RELEASE_FORGETS, "was not told that"),
    (plants.ALL_IS_SCHEDULED, "ran as a scheduled run ahead of its time"),
    (plants.ALL_IS_FORCED, "was due and ran as a forced run"),
    (plants.LOSS_IS_SUCCESS, "was told that it did what it did not do"),
    (plants.NO_RENEWAL, "met no fault and was answered"),
    (plants.NO_END, "it does not end"),
    (plants.LONG_SETTLE, "wrote a lease of 3600.0 s"),
    (plants.NO_RETRIES, "one crash, and the retries did not complete the run"),
]

STORIES: Final = """
import hashlib
from proof.schedule import Seed
from proof.story import told
for number in range(1, 21):
    with told() as story:
        Seed(number).play(story.tell)
    print(hashlib.sha256(str(story).encode()).hexdigest())
"""


def quiet(line: str) -> None:
    """Tell nobody about the progress."""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a process play few schedules at a time."""
    monkeypatch.setattr(crowd, "CHUNK", FEW)


@pytest.fixture(scope="module")
def figures() -> Figures:
    return Crowd(1, 10.0, quiet).simulate(SLICE)


def test_every_promise_is_kept(figures: Figures) -> None:
    """R10-R16, R18-R28: `make simulate-proof` plays more of them."""
    assert figures.schedules == len(SLICE)
    assert [verdict.schedule.command for verdict in figures.broken] == []


@pytest.mark.parametrize(
    "what",
    [
        "takeovers",
        "jobs recovered",
        "forced",
        "duplicate at once",
        "duplicate late",
        "completed",
        "failed",
        "crash",
        "SIGTERM",
        "standstill",
        "cut off",
        "lost request",
        "lost answer",
        "late request",
        "refusal",
        "lost delivery",
        "lost response",
        "answer processed 200",
        "answer duplicate 200",
        "answer gave_up 200",
        "answer in_progress 409",
        "answer lost 409",
        "answer lost 500",
        "answer failed 500",
        "answer unavailable 500",
    ],
)
def test_there_is_some_of_everything(figures: Figures, what: str) -> None:
    assert figures.counts[what] > 0


@pytest.mark.parametrize(("plant", "promise"), FOUND, ids=plants.name_of)
def test_a_planted_fault_is_found(plant: Plant, promise: str) -> None:
    with planted(plant):
        violations = (Seed(number).play().violation for number in SLICE)
        first = next(filter(None, violations))
    assert promise in first


class TestReplay:
    def test_tells_the_same_story_in_another_process(self) -> None:
        """One number decides everything: no clock, no hash, no order of a set has a part in it."""
        processes = [
            subprocess.run(
                [sys.executable, "-c", STORIES],
                env={**os.environ, "PYTHONPATH": "template", "PYTHONHASHSEED": seed},
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            for seed in ("1", "2")
        ]
        here = []
        for number in range(1, 21):
            with told() as story:
                Seed(number).play(story.tell)
            here.append(hashlib.sha256(str(story).encode()).hexdigest())
        assert processes == [here, here]
        assert len(set(here)) == len(here)

    def test_is_the_schedule_that_was_played_without_a_story(self) -> None:
        for number in range(1, 21):
            with told() as story:
                verdict = Seed(number).play(story.tell)
            assert verdict == Seed(number).play()


class TestBrokenPromise:
    def test_is_told_as_a_timeline_with_the_command_that_shows_it_again(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with planted(plants.DEAD_IS_KEPT):
            assert main(["simulate", "--runs", "300", "--workers", "1"]) == 1
            printed = capsys.readouterr().out
            _, _, command = printed.partition("make simulate-proof RUNS=1 SEED=")
            assert main(["simulate", "--runs", "1", "--seed", command.split()[0]]) == 1
        again = capsys.readouterr().out
        assert again in printed
        *_, last, _, verdict = again.splitlines()
        assert "BROKEN: " in last
        assert verdict.startswith("Broken: ")
        for told_of in ("gets the delivery", "log: ", "answers 409 in_progress", "instance A"):
            assert told_of in again
        moments = [float(line.split(" s ")[0]) for line in again.splitlines() if " s  " in line]
        assert moments == sorted(moments)

    def test_ends_the_search(self, few: None) -> None:
        with planted(plants.ALL_IS_FORCED):
            figures = Crowd(1, 10.0, quiet).simulate(range(1, 1_000_000))
        assert figures.schedules < FEW
        assert len(figures.broken) == 1


class TestTimeBox:
    def test_ends_the_search_and_says_how_far_it_came(self, few: None) -> None:
        reports: list[str] = []
        figures = Crowd(1, 0.0, reports.append).simulate(range(1, 1_000_000))
        assert figures.schedules == FEW
        assert reports[-1].startswith(f"{FEW:,} schedules in ")

    def test_is_not_reached_by_few_schedules(
        self, few: None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Several processes play each schedule once."""
        assert main(["simulate", "--runs", "110", "--workers", "2"]) == 0
        assert " 110 schedules" in capsys.readouterr().out
