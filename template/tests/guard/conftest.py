"""The guard as real processes, on a SQLite store that they share."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from app.dedup.record import Record
from app.dedup.store import Query
from app.dedup.stores import open_store

PATIENCE: Final = 60.0
LEASE: Final = 5
"""Seconds; the shortest lease there is."""

SCRIPT: Final = """
import os, sys, time
with open("effects", "a") as effects:
    effects.write(os.environ.get("RECOVERED", "0") + "\\n")
"""
"""What every command does first: it keeps that it ran, and whether as a takeover."""

WAIT: Final = """
while not os.path.exists("gate"):
    time.sleep(0.02)
"""


class Guarded:
    """A guard at work."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        """Return the exit status."""
        return self._process.wait(PATIENCE)

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
        self._process.communicate()


class Place:
    """A folder with a store, in which commands work and leave their effects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/runs.db"
        self._started: list[Guarded] = []

    def start(self, *arguments: str, **environ: str) -> Guarded:
        """Start a guard with these arguments."""
        known = {name: each for name, each in os.environ.items() if name[:10] != "CLOUD_RUN_"}
        settings = {"RUN_STORE_URL": self.url, "IDEMPOTENCY_TOKEN": "token", "SERVICE": "billing"}
        process = subprocess.Popen(
            [sys.executable, "-m", "app.guard", *arguments],
            cwd=self.folder,
            env={
                **known,
                **settings,
                "LEASE_SECONDS": str(LEASE),
                "PYTHONPATH": os.fspath(Path.cwd()),
                **environ,
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(Guarded(process))
        return self._started[-1]

    def python(self, script: str, *options: str, **environ: str) -> Guarded:
        """Start a guard whose command keeps its start, then does `script`."""
        command = (sys.executable, "-c", SCRIPT + script)
        return self.start(*options, "--", *command, **environ)

    def run(self, script: str = "", *options: str, **environ: str) -> int:
        """Guard a command, wait for it and return the exit status."""
        return self.python(script, *options, **environ).wait()

    @property
    def effects(self) -> list[str]:
        """For each time that a command ran: "1" as a takeover, else "0"."""
        path = self.folder / "effects"
        return path.read_text().splitlines() if path.exists() else []

    def await_file(self, name: str) -> str:
        """Wait for a file with something in it."""
        path = self.folder / name
        until(lambda: path.exists() and path.read_text().strip() != "")
        return path.read_text().strip()

    def open_gate(self) -> None:
        """Let commands go on that wait."""
        (self.folder / "gate").touch()

    def records(self) -> list[Record]:
        """Return the records in the store."""
        return [*open_store(self.url).list(Query(), timeout=5.0)]

    def close(self) -> None:
        # What got away from its guard ends by itself.
        self.open_gate()
        for guarded in self._started:
            guarded.end()


def until(holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def complaint(argv: list[str], **environ: str) -> tuple[int, str]:
    """Return how a guard ends that cannot begin, and what it says."""
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "app.guard", *argv],
        env=kept | environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    opened = Place(tmp_path)
    yield opened
    opened.close()
