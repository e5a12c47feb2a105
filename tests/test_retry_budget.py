"""The questionnaire and the generated project agree on what loses no run (R29, R31).

The formula is the project's, `app/retry_budget.py`. Jinja cannot call it, so `hooks/budget.jinja`
repeats its inequalities, and this holds the two together over a grid.
"""

import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from tests.conftest import Render
from tests.matrix import jinja_macros
from tests.rendering import ROOT, clean_environment

pytestmark = pytest.mark.slow

# Every day, so that the answers show the shortest interval.
ALL_DAY = ["* * * * *", "*/2 * * * *", "*/5 * * * *", "*/7 * * * *", "*/15 * * * *"]
SOME_HOURS = [
    "* 4 * * *",
    "*/2 4 * * *",
    "*/4 4,5 * * *",
    "*/5 4,5 * * *",
    "*/7 4,5 * * *",
    "1,59 * * * *",
    "*/15 4,5 * * *",
    "0 * * * *",
    "0,10 9 * * *",
    "30 23,0 * * *",
    "0 */6 * * *",
    "0 4 * * *",
]
DAILY = ALL_DAY + SOME_HOURS
# Not every day, or in a zone whose clocks change: the answers show an upper bound, or nothing.
UNCLEAR = [
    ("*/5 * * * 1-5", "Etc/UTC"),
    ("0,10 9 1 * *", "Etc/UTC"),
    ("59 23 * * MON,TUE", "Etc/UTC"),
    ("0 0 1,31 * *", "Etc/UTC"),
    ("30 2 * * *", "Europe/Paris"),
    ("*/7 * * * *", "Australia/Lord_Howe"),
    ("0 0 29 2 *", "Etc/UTC"),
]
DEADLINES = [15, 16, 19, 30, 45, 46, 120, 180, 285, 1800, 21_000, 86_415]
LEASES = [5, 12, 15, 60, 105, 110, 600, 3600]
KINDS = {"handler": 0, "proxy": 30}

BUDGETS = """
import json, sys
from datetime import UTC, datetime
from app.retry_budget import NoBudget, Times, retry_config, retry_window
from app.schedule import parse_zone, shortest_interval

def accepts(deadline, lease, interval, settle):
    try:
        return bool(retry_config(Times(deadline, deadline, lease, interval, settle)))
    except NoBudget:
        return False

def interval(schedule, zone):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return shortest_interval(schedule, parse_zone(zone), now).total_seconds()

asked = json.load(sys.stdin)
intervals = {(s, z): interval(s, z) for s, z in asked["schedules"]}
print(json.dumps({
    "intervals": list(intervals.values()),
    "accepted": [accepts(d, l, intervals[s, z], settle) for s, z, d, l, settle in asked["cases"]],
    "windows": [
        retry_window(attempt_deadline=d, request_timeout=d, lease=l) for d, l in asked["times"]
    ],
}))
"""


@dataclass(frozen=True)
class Case:
    """Answers on which the budget depends."""

    schedule: str
    zone: str
    kind: str
    deadline: int
    lease: int


def cases(schedules: Sequence[tuple[str, str]]) -> list[Case]:
    grid = itertools.product(schedules, KINDS, DEADLINES, LEASES)
    return [Case(*schedule, kind, *times) for schedule, kind, *times in grid]


# The intervals of those that run all day are among these, in a fraction of the time.
CLEAR_CASES = cases([(schedule, "Etc/UTC") for schedule in SOME_HOURS])
UNCLEAR_CASES = cases(UNCLEAR)
TIMES = list(itertools.product(DEADLINES, LEASES))


@pytest.fixture(scope="module")
def computed() -> dict[str, list[Any]]:
    """What the project's own code says about all cases, asked once."""
    every = CLEAR_CASES + UNCLEAR_CASES
    asked = {
        "schedules": [*((schedule, "Etc/UTC") for schedule in DAILY), *UNCLEAR],
        "cases": [(c.schedule, c.zone, c.deadline, c.lease, KINDS[c.kind]) for c in every],
        "times": TIMES,
    }
    printed = subprocess.run(
        [sys.executable, "-c", BUDGETS],
        cwd=ROOT / "template",
        env=clean_environment(),
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    answer: dict[str, list[Any]] = json.loads(printed)
    return answer


def asked_accepts(case: Case) -> bool:
    macros = jinja_macros("hooks/budget.jinja")
    refusal = macros.check_budget(case.schedule, case.kind, case.deadline, case.lease)
    return not str(refusal).strip()


class TestQuestionnaire:
    def test_accepts_exactly_what_loses_no_run_where_the_answers_show_it(
        self, computed: dict[str, list[Any]]
    ) -> None:
        """R31."""
        wrong = [
            case
            for case, accepted in zip(CLEAR_CASES, computed["accepted"], strict=False)
            if asked_accepts(case) != accepted
        ]
        assert wrong == []
        assert {True, False} == set(computed["accepted"][: len(CLEAR_CASES)])

    def test_refuses_nothing_that_loses_no_run_where_they_do_not(
        self, computed: dict[str, list[Any]]
    ) -> None:
        """R31: what gets through here, `make check` refuses."""
        rest = computed["accepted"][len(CLEAR_CASES) :]
        both = [
            (asked_accepts(case), accepted)
            for case, accepted in zip(UNCLEAR_CASES, rest, strict=True)
        ]
        assert (False, True) not in both
        assert (True, False) in both

    def test_knows_the_shortest_interval_of_what_runs_every_day(
        self, computed: dict[str, list[Any]]
    ) -> None:
        """R31."""
        known = jinja_macros("hooks/budget.jinja").known_interval
        assert [int(known(schedule)) for schedule in DAILY] == computed["intervals"][: len(DAILY)]

    def test_keeps_records_for_as_long_as_the_settings_demand(
        self, computed: dict[str, list[Any]]
    ) -> None:
        """R29."""
        window = jinja_macros("hooks/budget.jinja").retry_window
        assert [int(window(*times)) for times in TIMES] == computed["windows"]

    def test_refuses_at_the_prompt_with_the_answers_to_change(self, rendered: Render) -> None:
        """R31."""
        with pytest.raises(ValueError, match=r"'lease': .*a lease of 110 or less, an attempt_dead"):
            rendered(schedule="*/5 * * * *", attempt_deadline=180, lease=111)
        with pytest.raises(ValueError, match=r"'attempt_deadline': .*of 45 or less"):
            rendered(schedule="* * * * *", attempt_deadline=46)


@pytest.mark.parametrize("schedule", DAILY)
def test_the_defaults_fit_every_schedule(rendered: Render, schedule: str) -> None:
    """R31: without a warning."""
    answers = yaml.safe_load((rendered(schedule=schedule) / ".copier-answers.yml").read_text())
    settings = {
        "SCHEDULE": schedule,
        "ATTEMPT_DEADLINE_SECONDS": str(answers["attempt_deadline"]),
        "LEASE_SECONDS": str(answers["lease"]),
    }
    checked = subprocess.run(
        [sys.executable, "-m", "dev.budget"],
        cwd=ROOT / "template",
        env=clean_environment() | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")
