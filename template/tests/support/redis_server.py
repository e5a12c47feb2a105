"""Real Redis servers, or Valkey's, as processes of the test."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.retry import Retry

from dev.server import free_port
from tests.support.missing import missing

_VOLATILE = ("--save", "", "--appendonly", "no")


class Server:
    """One server on a free port, with its files in a folder of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_port()
        self.folder = folder
        self._options = options or _VOLATILE
        self._log = folder / "server.log"
        folder.mkdir(parents=True, exist_ok=True)
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def client(self) -> Redis:
        """Return a client that no fault hits."""
        never = Retry(NoBackoff(), 0)
        return Redis(port=self.port, protocol=2, decode_responses=True, retry=never)

    def start(self) -> None:
        """Start the process, again after a crash, and wait until it answers."""
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            missing("Redis", "neither redis-server nor valkey-server is installed")
        place = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder))
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [program, *place, *self._options], stdout=output, stderr=subprocess.STDOUT
            )
        end = time.monotonic() + 20
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                pytest.fail(f"The server did not start:\n{self._log.read_text()}")
            time.sleep(0.02)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Keep the server from answering anything."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            # The signal is only on its way yet.
            os.waitpid(self._process.pid, os.WUNTRACED)
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the process as a crash would."""
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                client.ping()
            except AuthenticationError:
                return True
            except RedisError:
                return False
            return True
