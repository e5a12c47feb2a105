"""The server under test: started as `make serve` starts it, killed and restarted at will."""

import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread

from dev.events import EventLog

START_TIMEOUT_SECONDS = 30.0
STOP_TIMEOUT_SECONDS = 12.0

_PROJECT = Path(__file__).parent.parent


class ServerError(Exception):
    """The server did not start; the message says what it printed."""


class LocalServer:
    """One server process group on a free port, with an SQLite store of its own."""

    def __init__(self, store: Path, log: EventLog, settings: Mapping[str, str]) -> None:
        """Keep the records in the file `store`; `settings` are environment variables."""
        self.store = store
        self.log = log
        self.port = free_port()
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._reader: Thread | None = None

    @property
    def store_url(self) -> str:
        """The `RUN_STORE_URL` of its records."""
        return f"sqlite:///{self.store}"

    @property
    def url(self) -> str:
        """The address of the server's root."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> float:
        """Start the server and wait until it answers; return how many seconds that took.

        Raises:
            ServerError: it ended, or was not healthy in time.
        """
        started = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dev.serve"],
            cwd=_PROJECT,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = Thread(target=self.log.read, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        while not self._healthy():
            if self._process.poll() is not None:
                self.kill()
                raise ServerError(self._report("the server ended before it was ready"))
            if time.monotonic() - started > START_TIMEOUT_SECONDS:
                self.kill()
                raise ServerError(self._report("the server did not become healthy"))
            time.sleep(0.02)
        return time.monotonic() - started

    def kill(self) -> None:
        """Send SIGKILL to the whole process group, and reap it."""
        self._signal(signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        """Ask the server to end with SIGTERM, as the platform does; kill it if it stays."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_TIMEOUT_SECONDS)
        self.kill()

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **self._settings,
            "AUTH": "off",
            "LOG_LEVEL": "DEBUG",
            "PORT": str(self.port),
            "PYTHONUNBUFFERED": "1",
            "RUN_STORE_URL": self.store_url,
        }

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1.0)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _end(self) -> None:
        if self._process is not None and self._reader is not None:
            self._process.wait()
            self._reader.join(STOP_TIMEOUT_SECONDS)
            if self._process.stdout is not None:
                self._process.stdout.close()
        self._process = self._reader = None

    def _report(self, problem: str) -> str:
        return "\n  ".join([f"{problem}; its last lines:", *self.log.other_lines])


def free_port() -> int:
    """Return a TCP port that nobody listens on, and that no connection is given as its own.

    Systems give outgoing connections ports from 32768 (Linux) or 49152 (macOS, Windows) upwards. A
    port from there may be taken again before a server listens on it.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))
            return port
