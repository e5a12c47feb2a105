"""`make serve` of a proxy: without a TARGET there is a stand-in, which needs no account (R41)."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest

from dev import targets
from dev.server import free_port
from tests.support.servers import frameworks
from tests.support.servers.gates import PATIENCE, eventually
from tests.support.servers.process import environment, write_folder
from tests.support.servers.wire import send

IMPORTS = """\
import os

from app.environment import Reader
from app.kinds import open_kind
from app.service import create_service"""
SERVICE = 'create_service(open_kind("proxy", Reader(os.environ)))'
PROGRAM = "from dev.serve import main; main('proxy')"
RUN = (
    ("X-CloudScheduler-JobName", "nightly"),
    ("X-CloudScheduler-ScheduleTime", "2026-10-16T12:00:00Z"),
    ("Content-Type", "application/json"),
)


@dataclass
class Terminal:
    """A process that is served at `port`, and what it shows on its terminal."""

    process: subprocess.Popen[bytes]
    port: int
    shown: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        return b"".join(self.shown).decode()

    def read(self, terminal: int) -> None:
        """Read until nobody writes any more, which Linux calls an error."""
        with suppress(OSError):
            while data := os.read(terminal, 4096):
                self.shown.append(data)

    def is_ready(self) -> bool:
        with suppress(OSError):
            return send(self.port, "GET", "/health").status == 200
        return False


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[Terminal]:
    """Serve a proxy on a terminal, whatever this project is."""
    framework = frameworks()[0]
    program = write_folder(folder / "program", framework, framework.main(IMPORTS, SERVICE))
    port, (reading, writing) = free_port(), os.openpty()
    store = f"sqlite:///{folder / 'runs.db'}"
    environ = environment({**settings, "PORT": str(port), "RUN_STORE_URL": store})
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=program,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        start_new_session=True,
    )
    os.close(writing)
    terminal = Terminal(process, port)
    reader = Thread(target=terminal.read, args=(reading,))
    reader.start()
    try:
        yield terminal
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join()
        os.close(reading)


@pytest.fixture(autouse=True)
def no_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TARGET", raising=False)


def test_starts_a_stand_in_once_per_run_while_no_target_is_set(tmp_path: Path) -> None:
    body = json.dumps(targets.open_api(targets.names()[0]).body).encode()
    with serving(tmp_path) as terminal:
        eventually("the server answers", terminal.is_ready)
        answers = [send(terminal.port, "POST", "/", RUN, body).outcome for _ in range(2)]
        assert answers == [(200, "processed"), (200, "duplicate")]
        assert "a stand-in of it is started once per run" in terminal.text


def test_passes_the_platforms_signal_on_to_the_server(tmp_path: Path) -> None:
    """R27."""
    with serving(tmp_path) as terminal:
        eventually("the server answers", terminal.is_ready)
        terminal.process.terminate()
        terminal.process.wait(PATIENCE)
        eventually("the server is gone", lambda: not terminal.is_ready())


def test_ends_by_ctrl_c(tmp_path: Path) -> None:
    """Which a terminal sends to all processes."""
    with serving(tmp_path) as terminal:
        eventually("the server answers", terminal.is_ready)
        os.killpg(terminal.process.pid, signal.SIGINT)
        terminal.process.wait(PATIENCE)
        assert "Traceback" not in terminal.text


def test_leaves_a_target_that_is_set_alone(tmp_path: Path) -> None:
    with serving(tmp_path, TARGET="nothing") as terminal:
        terminal.process.wait(PATIENCE)
        assert "stand-in" not in terminal.text
        assert "TARGET" in terminal.text
