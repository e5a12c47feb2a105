"""How a server starts, and how it refuses to in a bad environment."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from dev.kinds import surroundings
from dev.serve import web_command
from dev.server import free_port
from tests.support.servers import PROJECT, Framework, frameworks
from tests.support.servers.process import Server, environment, write_folder
from tests.support.servers.wire import send

BAD = {"LEASE_SECONDS": "soon", "SERVICE": "Not a name", "AUTH": "maybe", "LOG_LEVEL": "LOUD"}

on_every_framework = pytest.mark.parametrize("framework", frameworks(), ids=lambda one: one.name)


def plain(folder: Path, framework: Framework) -> Path:
    """A folder with the `main.py` that a project of this framework has."""
    return write_folder(folder / "program", framework, framework.main("", ""))


def start_in_vain(folder: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dev.serve"],
        cwd=folder,
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=30,
    )


def test_the_tests_start_the_server_as_the_procfile_does() -> None:
    command = web_command((PROJECT / "Procfile").read_text())
    assert command in [framework.command for framework in frameworks()]


def assert_refusal(ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode not in (0, None)
    messages = [
        line for line in ended.stdout.splitlines() if "The environment is not usable" in line
    ]
    assert len(messages) == 1
    assert all(name in messages[0] for name in BAD)
    assert "Traceback" not in ended.stdout


@on_every_framework
def test_a_bad_environment_ends_the_start_with_one_message_that_lists_every_error(
    framework: Framework, tmp_path: Path
) -> None:
    """Also where a server would start its workers again and again."""
    settings = {
        **framework.environ,
        **BAD,
        "PORT": str(free_port()),
        "RUN_STORE_URL": "sqlite:///runs.db",
    }
    assert_refusal(start_in_vain(plain(tmp_path, framework), settings))


def test_a_bad_environment_ends_the_start_of_the_project_itself(tmp_path: Path) -> None:
    settings = {
        **BAD,
        "PORT": str(free_port()),
        "RUN_STORE_URL": f"sqlite:///{tmp_path / 'runs.db'}",
    }
    assert_refusal(start_in_vain(PROJECT, settings))


def test_the_project_itself_is_healthy_without_touching_a_store(tmp_path: Path) -> None:
    """R41: neither the start nor `/health` does."""
    store = tmp_path / "runs.db"
    with surroundings() as around:
        settings = {**around.environ, "RUN_STORE_URL": f"sqlite:///{store}"}
    server = Server(PROJECT, tmp_path / "log", settings)
    try:
        server.wait_until_ready()
        assert send(server.port, "GET", "/health").outcome == (200, "healthy")
        assert send(server.port, "POST", "/").outcome == (400, "rejected")
        assert not store.exists()
    finally:
        server.kill()
