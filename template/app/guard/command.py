"""The command as a process of its own, which is told to stop and does not outlive the guard."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from typing import Final

GRACE: Final = 8.0
"""Seconds between asking a command to stop and killing it, within Cloud Run's ten."""


class Command:
    """A command that is run at most once.

    `received` is the number of the last signal that was forwarded, or None.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.received: int | None = None
        self._arguments = arguments
        self._group: int | None = None
        self._ended = threading.Event()

    def run(self, environ: Mapping[str, str], lost: threading.Event) -> int:
        """Run the command and return its exit status; negative is the signal that ended it.

        It is stopped when `lost` is set.

        Raises:
            OSError: it cannot be started.
        """
        with _watched_group() as group:
            process = subprocess.Popen(  # noqa: S603 to run the owner's command is the purpose
                self._arguments, env=environ, process_group=group
            )
            self._group = group
            try:
                if self.received is not None:
                    # It came while nobody was there to get it.
                    self.forward(self.received)
                threading.Thread(target=self._stop, args=(lost,), daemon=True).start()
                return process.wait()
            finally:
                self._group = None
                self._ended.set()

    def forward(self, number: int) -> None:
        """Send the command a signal, now or as soon as there is one."""
        self.received = number
        if (group := self._group) is not None:
            _signal(group, number)

    def _stop(self, lost: threading.Event) -> None:
        lost.wait()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if (group := self._group) is not None:
                _signal(group, number)
            if self._ended.wait(GRACE):
                return


@contextmanager
def _watched_group() -> Iterator[int]:
    """Make a process group, all of which is killed at the end, or when this process dies."""
    with (
        as_file(files("app.guard") / "watch.py") as path,
        subprocess.Popen(  # noqa: S603 a file of this package
            # Isolated: the environment is the command's business.
            [sys.executable, "-I", "-S", os.fspath(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        ) as watch,
    ):
        if not watch.stdin or not watch.stdout or watch.stdout.read(1) != b"+":
            raise OSError("the process that watches over the command did not start")
        try:
            yield watch.pid
        finally:
            watch.stdin.close()


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)
