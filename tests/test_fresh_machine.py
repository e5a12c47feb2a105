"""What a user does first, with the commands of the README, on a machine without uv."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environments import Uv
from tests.ports import free_port
from tests.rendering import clean_environment, commit, git, snapshot
from tests.test_examples import RECOMMENDED
from tests.test_pythons import NEWEST

pytestmark = pytest.mark.slow

START_SECONDS = 30


@pytest.fixture(scope="module")
def machine(uv: Uv, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which python3 is on the PATH, with the system's commands, but not uv.

    It is the newest Python, if this machine has it.
    """
    commands = tmp_path_factory.mktemp("bin")
    own = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}")
    (commands / "python3").symlink_to(uv.python(NEWEST) or own)
    for command in ("make", "git", "bash", "sh", "awk", "dirname", "rm", "sed", "touch"):
        found = shutil.which(command)
        assert found, f"{command} is missing"
        (commands / command).symlink_to(found)
    environment = clean_environment()
    # Such a machine has no emulator either, and needs none.
    for name in ("REQUIRE_STORES", "RUN_STORE_URL", "AUTH", "PORT", "K_SERVICE", "GAE_ENV"):
        environment.pop(name, None)
    return environment | {"PATH": os.fspath(commands)}


@pytest.fixture(scope="module")
def project(machine: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recommended project, made on the command line and installed; in no repository."""
    template = snapshot(tmp_path_factory.mktemp("repository"))
    commit(template, "The template")
    folder = tmp_path_factory.mktemp("fresh") / "project"
    copier = Path(sys.executable).with_name("copier")
    places: list[str | Path] = ["--data-file", RECOMMENDED, template, folder]
    command = [copier, "copy", "--defaults", "--vcs-ref", "HEAD", *places]
    subprocess.run(command, check=True)
    make(folder, machine, "install")
    return folder


def make(project: Path, machine: dict[str, str], *arguments: str) -> str:
    """Run a command of the project and fail with what it says."""
    result = subprocess.run(
        ["make", *arguments],
        cwd=project,
        env=machine,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@contextlib.contextmanager
def served(project: Path, machine: dict[str, str]) -> Iterator[str]:
    """Run `make serve` on a free port, and stop it as Ctrl-C would."""
    port = str(free_port())
    server = subprocess.Popen(
        ["make", "serve"], cwd=project, env=machine | {"PORT": port}, start_new_session=True
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGINT)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def ask(request: urllib.request.Request) -> dict[str, str]:
    """Send a request as soon as the server listens, and return the JSON of a 200."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own URL
                body: dict[str, str] = json.load(answer)
                return body
        except urllib.error.HTTPError:
            raise
        except OSError:
            if time.monotonic() > end:
                raise
            threading.Event().wait(0.1)


def test_first_steps(project: Path, machine: dict[str, str], subtests: pytest.Subtests) -> None:
    with subtests.test("the lock file is written"):
        assert (project / "uv.lock").exists()
    with subtests.test("it needs no repository"), pytest.raises(subprocess.CalledProcessError):
        git(project, "rev-parse")
    with subtests.test("help lists the commands"):
        listed = make(project, machine, "help")
        for command in ("install", "test", "check", "audit", "serve", "simulate", "runs"):
            assert f"make {command} " in listed
    with subtests.test("R11, R41: it serves, and does a run once"), served(project, machine) as url:
        ask(urllib.request.Request(f"{url}/health"))  # noqa: S310 - our own URL
        headers = {
            "X-CloudScheduler-JobName": "nightly-report",
            "X-CloudScheduler-ScheduleTime": "2026-01-02T03:04:05-07:00",
        }
        delivery = urllib.request.Request(  # noqa: S310 - our own URL
            url, data=b"", headers=headers, method="POST"
        )
        assert [ask(delivery)["outcome"], ask(delivery)["outcome"]] == ["processed", "duplicate"]
    with subtests.test("its checks pass"):
        make(project, machine, "check")
    with subtests.test("R41: its tests pass"):
        assert " passed" in make(project, machine, "test")
