"""Signals, kill -9 and two at once: a command and its guard are processes, which die apart."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from app.dedup.runner import SETTLE
from app.guard.command import Command
from app.guard.statuses import SIGNALLED, Exit
from tests.guard.conftest import LEASE, WAIT, Place, until

FAMILY = """
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(90)"])
with open("pids", "w") as pids:
    pids.write(f"{os.getpid()} {child.pid}")
"""
"""A command with a child of its own, which a signal to the command alone would leave behind."""

GROUP = "os.setpgid(0, 0)\n" + FAMILY
"""The same in a process group of its own, as `timeout` runs its command."""

LOUD = """
import signal
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, signal.SIG_IGN)
    os.killpg(0, number)
"""
"""A command that sends to its group all that it can ignore itself."""

POLITE = """
import signal
def stop(number, frame):
    with open("stopped", "w") as stopped: stopped.write(str(number))
    sys.exit(0)
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, stop)
with open("ready", "w") as ready: ready.write("+")
"""

STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open("ready", "w") as ready: ready.write(str(os.getpid()))
"""


def is_alive(pid: int) -> bool:
    """Tell whether a process works; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not sys.platform.startswith("linux"):
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_go_to_the_command_whose_0_is_no_proof_then(
        self, place: Place, number: signal.Signals
    ) -> None:
        """R22, R27: it may have stopped before its work was done."""
        guarded = place.python(POLITE + WAIT)
        place.await_file("ready")
        guarded.signal(number)
        assert guarded.wait() == SIGNALLED + number
        assert place.await_file("stopped") == str(int(number))
        (record,) = place.records()
        assert record.status == "in_progress"
        assert record.lease_left() <= SETTLE
        # The next attempt waits until the run may be looked at, and is told.
        assert place.run() == Exit.DONE
        assert place.effects == ["0", "1"]

    def test_that_end_the_command_release_its_claim(self, place: Place) -> None:
        """R21, R27."""
        guarded = place.python(FAMILY + WAIT)
        pids = place.await_file("pids").split()
        guarded.signal(signal.SIGTERM)
        assert guarded.wait() == SIGNALLED + signal.SIGTERM
        assert place.records() == []
        until(lambda: not any(is_alive(int(pid)) for pid in pids))

    def test_reach_a_command_in_a_group_of_its_own(self, place: Place) -> None:
        """R27: `timeout` makes one."""
        guarded = place.python(GROUP + WAIT)
        pids = place.await_file("pids").split()
        guarded.signal(signal.SIGTERM)
        assert guarded.wait() == SIGNALLED + signal.SIGTERM
        until(lambda: not any(is_alive(int(pid)) for pid in pids))

    def test_that_the_command_sends_to_its_group_leave_it_watched(self, place: Place) -> None:
        """R28: `kill -USR1 0` in a script."""
        guarded = place.python(LOUD + FAMILY + WAIT)
        pids = place.await_file("pids").split()
        guarded.signal(signal.SIGKILL)
        guarded.wait()
        until(lambda: not any(is_alive(int(pid)) for pid in pids))

    def test_that_come_while_another_attempt_is_waited_for_end_the_wait(self, place: Place) -> None:
        """R27: nothing is begun after the signal."""
        place.python(FAMILY + WAIT)
        place.await_file("pids")
        second = place.python("", LOG_LEVEL="INFO")
        time.sleep(2)
        second.signal(signal.SIGTERM)
        assert second.wait() == SIGNALLED + signal.SIGTERM
        assert place.effects == ["0"]


class TestTwoAtOnce:
    def test_run_the_command_once_while_the_first_is_alive(self, place: Place) -> None:
        """R12, R18: the second waits for as long as a dead one would take, and no longer."""
        first = place.python(WAIT)
        place.await_file("effects")
        second = place.python("")
        assert second.wait() == Exit.BUSY
        place.open_gate()
        assert first.wait() == Exit.DONE
        assert place.run() == Exit.DONE
        assert place.effects == ["0"]

    def test_many_run_it_once(self, place: Place) -> None:
        """R10: those that wait find it done."""
        guards = [place.python("time.sleep(0.5)") for _ in range(5)]
        assert {guarded.wait() for guarded in guards} == {Exit.DONE}
        assert place.effects == ["0"]


class TestKilled:
    def test_the_command_dies_with_its_guard_and_the_next_attempt_is_told(
        self, place: Place
    ) -> None:
        """R28: kill -9."""
        guarded = place.python(FAMILY + WAIT)
        pids = place.await_file("pids").split()
        guarded.signal(signal.SIGKILL)
        guarded.wait()
        until(lambda: not any(is_alive(int(pid)) for pid in pids))
        assert place.run() == Exit.DONE
        assert place.effects == ["0", "1"]

    def test_the_command_dies_in_a_group_of_its_own_too(self, place: Place) -> None:
        """R28: kill -9 of the guard of a `timeout`."""
        guarded = place.python(GROUP + WAIT)
        pids = [int(pid) for pid in place.await_file("pids").split()]
        guarded.signal(signal.SIGKILL)
        guarded.wait()
        until(lambda: not any(map(is_alive, pids)))

    def test_what_the_command_leaves_in_a_group_of_its_own_dies_at_its_end(
        self, place: Place
    ) -> None:
        guarded = place.python(GROUP)
        assert guarded.wait() == Exit.DONE
        pids = [int(pid) for pid in place.await_file("pids").split()]
        until(lambda: not any(map(is_alive, pids)))

    def test_a_takeover_that_fails_is_followed_by_another(self, place: Place) -> None:
        """R21: what one attempt may have done is not forgotten."""
        guarded = place.python(FAMILY + WAIT)
        place.await_file("pids")
        guarded.signal(signal.SIGKILL)
        guarded.wait()
        assert place.run("sys.exit(3)") == 3
        assert place.run() == Exit.DONE
        assert place.effects == ["0", "1", "1"]


@pytest.mark.parametrize("group", ["", "os.setpgid(0, 0)"], ids=["guards", "own"])
def test_a_guard_that_stood_still_stops_its_command_and_leaves_the_run_alone(
    place: Place, group: str
) -> None:
    """R19, R24: another attempt has completed the run meanwhile."""
    guarded = place.python(group + STUBBORN + WAIT)
    pid = int(place.await_file("ready"))
    guarded.signal(signal.SIGSTOP)
    time.sleep(LEASE + 1)
    assert place.run() == Exit.DONE
    guarded.signal(signal.SIGCONT)
    assert guarded.wait() == Exit.DONE
    assert not is_alive(pid)
    assert place.effects == ["0", "1"]


def test_a_command_that_loses_its_claim_counts_as_told_to_stop() -> None:
    """R19, R22: if it ends with 0 then, that is no proof either."""
    command = Command(["sleep", "90"])
    lost = threading.Event()
    lost.set()
    assert command.run(os.environ, lost) == -signal.SIGTERM
    assert command.received == signal.SIGTERM
