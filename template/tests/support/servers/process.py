"""A server process, started as `make serve` starts it, in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dev.server import free_port
from tests.support.servers import PROJECT, Framework
from tests.support.servers.gates import PATIENCE, NotInTime, eventually
from tests.support.servers.wire import send

SERVICE: Final = "tests"
"""Name of the tests' service, a part of every run's key."""

_NOT_FOR_TESTS: Final = ("K_SERVICE", "GAE_ENV")

_SERVERS_OWN: Final = ("Traceback", "[ERROR]", "ERROR:")
_UNFORESEEN: Final = ("The request could not be handled", "Exception on ")


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this machine's environment with `settings`, and nothing else of the service's."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_TESTS}
    fixed = {
        "SERVICE": SERVICE,
        "JOB_SCOPE": "none",
        "FORCED_RUNS": "separate",
        "ATTEMPT_DEADLINE_SECONDS": "180",
        "REQUEST_TIMEOUT_SECONDS": "180",
        "LEASE_SECONDS": "60",
        "RETENTION_SECONDS": "172800",
        "AUTH": "off",
        "LOG_LEVEL": "DEBUG",
        "PYTHONPATH": str(PROJECT),
        "PYTHONUNBUFFERED": "1",
    }
    return {**kept, **fixed, **settings}


def write_folder(folder: Path, framework: Framework, main: str) -> Path:
    """Make `folder` a place from which a framework's server serves the text `main`."""
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(main)
    (folder / "Procfile").write_text(f"web: {framework.command}\n")
    for name in framework.files:
        (folder / name).symlink_to(PROJECT / name)
    return folder


class Server:
    """A process group that serves a folder on a port of its own."""

    def __init__(self, folder: Path, log: Path, settings: Mapping[str, str]) -> None:
        """Start it, without waiting for it."""
        self.port = free_port()
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dev.serve"],
                cwd=folder,
                env=environment({**settings, "PORT": str(self.port)}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_ready(self) -> None:
        """Return when the server answers."""
        try:
            eventually("the server answers", self._is_ready)
        except NotInTime as error:
            raise AssertionError(f"{error}; it printed: {self.log()}") from error

    def log(self) -> str:
        """Return all that the server has printed."""
        return self._log.read_text(errors="replace")

    def events(self, name: str, run_id: str = "") -> list[dict[str, Any]]:
        """Return the log lines of an event, those of one run where `run_id` says which."""
        # The last line may not be complete yet.
        complete = self.log().split("\n")[:-1]
        lines = [json.loads(line) for line in complete if line.startswith("{")]
        return [
            line
            for line in lines
            if line.get("event") == name and run_id in ("", line.get("run_id"))
        ]

    def stumbles(self, since: int = 0) -> list[str]:
        """Return the lines, after so many characters of the log, that tell of an error in a server.

        What the service has foreseen is logged in JSON, with a traceback or without.
        """

        def is_one(line: str) -> bool:
            signs = _UNFORESEEN if line.startswith("{") else _SERVERS_OWN
            return any(sign in line for sign in signs)

        return [line for line in self.log()[since:].splitlines() if is_one(line)]

    @property
    def group(self) -> int:
        """The id of its process group."""
        return self._process.pid

    def terminate(self) -> None:
        """Send SIGTERM to the process that the platform knows, as the platform does."""
        self._process.terminate()

    def freeze(self) -> None:
        """Stop all its processes where they stand."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let all its processes go on."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Send SIGKILL to all its processes."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def wait_for_exit(self, patience: float = PATIENCE) -> tuple[int, float]:
        """Return its exit status when it has ended, and how many seconds that took."""
        start = time.monotonic()
        status = self._process.wait(patience)
        return status, time.monotonic() - start

    def _is_ready(self) -> bool:
        if self._process.poll() is not None:
            raise AssertionError(f"the server ended before it was ready: {self.log()}")
        with suppress(OSError):
            return send(self.port, "GET", "/health").status == 200
        return False

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
