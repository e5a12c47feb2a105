"""Kill the process group of this process when its standard input ends.

The guard starts it by its path, as the leader of the group to which the command then belongs, and
holds the other end of the pipe. The end comes when the guard closes it and when the guard dies,
however it dies: so no command outlives its guard, on any system that has process groups.

What the guard has written until then is the command's process id, which is also the id of the
group that the command may have made for itself: it is killed, too.
"""

import os
import signal
import sys
from contextlib import suppress


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, if there is one that may be told."""
    # PermissionError: all of it belongs to another user, or is dead where zombies cannot be told.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _watch() -> None:
    # What the guard forwards to the group is for the command, and so is what the command sends it.
    for each in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        # Some systems keep more signals to themselves than these two.
        with suppress(OSError):
            signal.signal(each, signal.SIG_IGN)
    os.write(sys.stdout.fileno(), b"+")
    if command := sys.stdin.buffer.read():
        signal_group(int(command), signal.SIGKILL)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    _watch()
