"""Emulators of stores, as processes that tests start and stop."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_START_LIMIT = 60.0


class Emulator:
    """An emulator as a process group, which listens on `host` when its log says `ready`.

    `environ` is what its environment has besides that of the tests.
    """

    def __init__(
        self, host: str, command: list[str], log: Path, ready: str, **environ: str
    ) -> None:
        self.host = host
        self._log = log
        self._ready = ready
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                env=os.environ | environ,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        end = time.monotonic() + _START_LIMIT
        while self._ready not in self._log.read_text(errors="replace"):
            if self._process.poll() is not None or time.monotonic() > end:
                self._signal(signal.SIGKILL)
                pytest.fail(f"The emulator did not start:\n{self._log.read_text()}")
            time.sleep(0.1)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Keep the emulator from answering anything."""
        self._signal(signal.SIGSTOP)
        try:
            # The signal is only on its way yet, to this process and to what it has started. Nobody
            # tells when a process of another one stands still, so they are looked at until all do.
            os.waitpid(self._process.pid, os.WUNTRACED)
            while self._states() & {"R", "S"}:
                time.sleep(0.01)
            yield
        finally:
            self._signal(signal.SIGCONT)

    def stop(self) -> None:
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _states(self) -> set[str]:
        """Return the states of its processes, as Linux tells them; elsewhere nothing."""
        states = set[str]()
        for file in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, _, group = file.read_text().rpartition(")")[2].split()[:3]
                if int(group) == self._process.pid:
                    states.add(state)
        return states

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
