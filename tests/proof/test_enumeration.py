"""All schedules of two attempts."""

from itertools import product

import pytest

from proof.__main__ import main
from proof.choices import Path
from proof.exhaustive import CASES, Chosen
from proof.story import untold
from tests.proof import plants
from tests.proof.plants import Plant, planted

pytestmark = pytest.mark.slow

QUICK = [number for number, case in enumerate(CASES) if not case.works]


def test_a_path_goes_through_all_choices_once() -> None:
    seen = []
    path: Path | None = Path()
    while path is not None:
        seen.append((path.choose(2), path.choose(3), path.choose(1)))
        path = path.next()
    assert seen == list(product(range(2), range(3), range(1)))


@pytest.mark.parametrize("case", QUICK)
def test_every_promise_is_kept_whatever_fails(case: int) -> None:
    """R10-R28: any one fault, at any call of either attempt; `make enumerate-proof` has two."""
    with untold():
        broken = [verdict for verdict in Chosen(case, faults=1).all() if verdict.violation]
    assert [verdict.schedule.command for verdict in broken] == []


def test_every_schedule_is_another_and_is_in_one_part() -> None:
    every = [verdict.schedule for verdict in Chosen(0, faults=1).all()]
    parts = list(Chosen(0, faults=1).parts(4))
    assert len(set(every)) == len(every)
    assert len(parts) > 10
    assert [verdict.schedule for part in parts for verdict in part.all()] == every


def test_both_attempts_come_first() -> None:
    """Without a fault, each of them does the work in some schedule."""
    counts = [verdict.counts for verdict in Chosen(0, faults=0).all()]
    assert {count["answer duplicate 200"] for count in counts} == {0, 1}
    assert {count["answer in_progress 409"] for count in counts} == {0, 1}


@pytest.mark.parametrize(
    ("plant", "promise"),
    [
        (plants.OWN_IS_REFUSED, "was told to wait for nobody"),
        (plants.LIVE_IS_TAKEN, "wrote over a live claim"),
        (plants.NO_LOOK_BEFORE_THE_WORK, "started its job without a live claim"),
        (plants.LOSS_IS_SUCCESS, "was told that it did what it did not do"),
    ],
    ids=plants.name_of,
)
def test_a_planted_fault_is_found(plant: Plant, promise: str) -> None:
    with planted(plant), untold():
        violations = (verdict.violation for verdict in Chosen(0, faults=1).all())
        assert any(promise in violation for violation in violations if violation)


def test_a_broken_promise_is_told_with_the_command_that_shows_it_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with planted(plants.OWN_IS_REFUSED):
        assert main(["enumerate", "--faults", "1", "--workers", "1"]) == 1
        printed = capsys.readouterr().out
        _, _, where = printed.partition("make enumerate-proof FAULTS=1 REPLAY=")
        again = ["enumerate", "--faults", "1", "--replay", where.split()[0]]
        assert main(again) == 1
    told = capsys.readouterr().out
    assert told in printed
    assert "BROKEN: " in told
    assert main(again) == 0
    assert "Every promise was kept." in capsys.readouterr().out
