"""The command as a process of its own, which is told to stop and does not outlive the guard.

Two groups are told and killed: the one that the command is put into, and the one that its process
makes for itself, as `timeout` does. What makes a group or a session of its own further down (jobs
of an interactive shell, `setsid`, daemons) is out of reach.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from typing import IO, Final

from app.guard.watch import signal_group

GRACE: Final = 8.0
"""Seconds between asking a command to stop and killing it, within Cloud Run's ten."""


class Command:
    """A command that is run at most once.

    `received` is the number of the last signal that told it to stop, or None.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.received: int | None = None
        self._arguments = arguments
        self._groups: tuple[int, ...] = ()
        self._ended = threading.Event()

    def run(self, environ: Mapping[str, str], lost: threading.Event) -> int:
        """Run the command and return its exit status; negative is the signal that ended it.

        It is stopped when `lost` is set.

        Raises:
            OSError: it cannot be started.
        """
        with _watched_group() as (group, watch):
            process = subprocess.Popen(  # noqa: S603 to run the owner's command is the purpose
                self._arguments, env=environ, process_group=group
            )
            self._groups = (group, process.pid)
            try:
                # A watch that is gone was killed, and its whole group with it.
                with suppress(BrokenPipeError):
                    watch.write(b"%d" % process.pid)
                if self.received is not None:
                    # It came while nobody was there to get it.
                    self.forward(self.received)
                threading.Thread(target=self._stop, args=(lost,), daemon=True).start()
                return process.wait()
            finally:
                self._groups = ()
                self._ended.set()

    def forward(self, number: int) -> None:
        """Send the command a signal, now or as soon as there is one."""
        self.received = number
        for group in self._groups:
            signal_group(group, number)

    def _stop(self, lost: threading.Event) -> None:
        lost.wait()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self._ended.is_set():
                self.forward(number)
            if self._ended.wait(GRACE):
                return


@contextmanager
def _watched_group() -> Iterator[tuple[int, IO[bytes]]]:
    """Make a process group, all of which is killed at the end, or when this process dies.

    The group that is written to the pipe is killed with it.
    """
    with (
        as_file(files("app.guard") / "watch.py") as path,
        subprocess.Popen(  # noqa: S603 a file of this package
            # Isolated: the environment is the command's business.
            [sys.executable, "-I", "-S", os.fspath(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            process_group=0,
        ) as watch,
    ):
        if not watch.stdin or not watch.stdout or watch.stdout.read(1) != b"+":
            raise OSError("the process that watches over the command did not start")
        try:
            yield watch.pid, watch.stdin
        finally:
            watch.stdin.close()
