"""The soak finds what must not be, and finds nothing in a small one."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from proof.soak.journal import Fault, Work
from proof.soak.verdict import Verdict, judge
from tests.rendering import ROOT

pytestmark = pytest.mark.slow

RUN = "a-run"
KILL = Fault("kill", group=1, begin=10.5, end=10.6)
FIRST = Work("done", RUN, "one", fence=1, recovered=False, group=1, at=10.0)
SECOND = Work("done", RUN, "two", fence=2, recovered=True, group=2, at=13.0)


def verdict(*ends: Work, faults: tuple[Fault, ...] = (), answered: float = 20.0) -> Verdict:
    """Judge one run that ended so, and whose record names the last attempt that did."""
    work = [replace(end, what=what) for end in ends for what in ("start", "done")]
    finished_by = {RUN: ends[-1].attempt_id} if ends else {}
    return judge([RUN], work, faults, finished_by, {RUN: answered})


class TestVerdict:
    def test_is_good_of_a_run_that_was_done_once(self) -> None:
        judged = verdict(FIRST)
        assert judged.is_good
        assert (judged.once, judged.again) == (1, 0)

    @pytest.mark.parametrize(
        "fault",
        [
            KILL,
            Fault("standstill", group=1, begin=9.0, end=12.0),
            Fault("pause", group=0, begin=10.0, end=12.0),
        ],
    )
    def test_is_good_of_a_run_that_was_done_again_after_an_interruption(self, fault: Fault) -> None:
        judged = verdict(FIRST, SECOND, faults=(fault,))
        assert judged.is_good
        assert (judged.once, judged.again) == (0, 1)

    def test_is_good_of_an_attempt_that_said_that_the_store_failed(self) -> None:
        work = [replace(end, what=what) for end in (FIRST, SECOND) for what in ("start", "done")]
        assert judge([RUN], work, [], {RUN: "two"}, {}, {"one"}).is_good
        assert not judge([RUN], work, [], {RUN: "two"}, {}, {"two"}).is_good

    @pytest.mark.parametrize(
        "fault",
        [
            replace(KILL, group=2),
            replace(KILL, begin=1.0, end=1.1),
            replace(KILL, begin=20.0, end=20.1),
            replace(KILL, what="stop"),
        ],
        ids=["of another server", "before", "after", "in order"],
    )
    def test_is_bad_of_a_run_that_was_done_twice_without_a_crash(self, fault: Fault) -> None:
        (wrong,) = verdict(FIRST, SECOND, faults=(fault,)).wrong
        assert "done twice without a crash" in wrong

    def test_is_bad_of_an_attempt_that_did_not_know_that_it_took_over(self) -> None:
        (wrong,) = verdict(FIRST, replace(SECOND, recovered=False), faults=(KILL,)).wrong
        assert "did not know" in wrong

    def test_is_bad_of_a_run_that_nobody_did(self) -> None:
        (wrong,) = verdict().wrong
        assert "lost" in wrong

    def test_is_bad_of_an_answer_before_the_run_was_done(self) -> None:
        (wrong,) = verdict(FIRST, answered=9.0).wrong
        assert "before anybody had done it" in wrong

    def test_is_bad_of_a_record_that_names_somebody_else(self) -> None:
        (wrong,) = judge([RUN], [replace(FIRST, what="start"), FIRST], [], {}, {}).wrong
        assert "names no attempt" in wrong

    def test_tells_how_long_after_a_kill_a_run_was_done(self) -> None:
        begun = replace(FIRST, what="start")
        ended = [replace(SECOND, what=what) for what in ("start", "done")]
        judged = judge([RUN], [begun, *ended], [KILL], {RUN: "two"}, {})
        assert judged.recoveries == [2.5]
        assert judged.recovery(99) == 2.5


def test_a_small_soak_finds_nothing_wrong() -> None:
    """R28: the real server on SQLite, killed and stopped, and a Scheduler that does not give up."""
    command = "-m proof.soak --runs 36 --lease 1 --pause 0.5 --framework flask --at-once 12"
    soak = subprocess.run(
        [sys.executable, *command.split()],
        cwd=ROOT / "template",
        env={**os.environ, "PYTHONPATH": os.pathsep.join((".", ".."))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert soak.returncode == 0, soak.stdout + soak.stderr
    figures = dict(re.findall(r"^(.*?): +(.*)$", soak.stdout, re.MULTILINE))
    assert figures["runs"].startswith("36, ")
    assert int(figures["done once"]) + int(figures["done again, as recovered"]) == 36
    assert figures["lost"] == figures["done twice without a cause"] == "0"
    assert int(figures["deliveries"]) > 36
