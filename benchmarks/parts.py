"""The stores' servers, real ones and emulators: started on first use, stopped at the end."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Final

from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore_v1.client import Client
from redis import Redis
from redis.exceptions import RedisError

from tests.ports import free_port

_HOST: Final = "127.0.0.1"
_START_LIMIT: Final = 120.0


class MissingPartError(Exception):
    """This machine lacks a part; the message says which."""


class Parts(AbstractContextManager["Parts"]):
    """Servers that live as long as the context. `folder` is for files that live as long."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def firestore(self) -> str:
        """Start the Firestore emulator, for all clients of this process; return its address."""
        for program in ("gcloud", "java"):
            _program(program, "the Firestore emulator")
        host = f"{_HOST}:{free_port()}"
        command = ["gcloud", "emulators", "firestore", "start", f"--host-port={host}"]
        self._start("firestore", command, ready="is now running")
        self._set("FIRESTORE_EMULATOR_HOST", host)
        # The first request takes seconds, more than the stores give a call.
        client = Client(project="warm", credentials=AnonymousCredentials())  # type: ignore[no-untyped-call]
        client.collection("warm").document("warm").set({"up": True})
        client.close()  # type: ignore[no-untyped-call]
        return host

    @cached_property
    def spanner(self) -> str:
        """Start the Spanner emulator, for all clients of this process; return its address."""
        part = "the Spanner emulator"
        ask = [_program("gcloud", part), "info", "--format=value(installation.sdk_root)"]
        root = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
        emulator = Path(root, "bin", "cloud_spanner_emulator", "emulator_main")
        if not emulator.exists():
            raise MissingPartError(
                f"{part}: gcloud's component cloud-spanner-emulator is not installed"
            )
        host = f"{_HOST}:{free_port()}"
        self._start("spanner", [str(emulator), "--host_port", host], ready="Server address")
        # The client's own measurements would be sent to Google from a thread of theirs.
        self._set("SPANNER_DISABLE_BUILTIN_METRICS", "true")
        return self._set("SPANNER_EMULATOR_HOST", host)

    @cached_property
    def redis(self) -> int:
        """Start a Redis server that writes no files; return its port."""
        program = _program("redis-server", "Redis")
        port = free_port()
        place = ["--port", str(port), "--bind", _HOST, "--dir", str(self.folder)]
        command = [program, *place, "--save", "", "--appendonly", "no"]
        self._start("redis", command, ready="Ready to accept connections")
        with Redis(port=port) as client, suppress(RedisError):
            client.ping()
        return port

    def _start(self, name: str, command: list[str], ready: str) -> None:
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        self._stack.callback(end, process)
        limit = time.monotonic() + _START_LIMIT
        while ready not in log.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"{name} did not start:\n{log.read_text(errors='replace')}")
            time.sleep(0.05)

    def _set(self, variable: str, value: str) -> str:
        before = os.environ.get(variable)
        os.environ[variable] = value
        self._stack.callback(_restore, variable, before)
        return value


@contextmanager
def optional(omitted: list[str]) -> Iterator[None]:
    """Note in `omitted` which part is missing, and leave out what needs it."""
    try:
        yield
    except MissingPartError as error:
        omitted.append(str(error))


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session of its own, and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _program(name: str, part: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingPartError(f"{part}: {name} is not installed")
    return found


def _restore(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value
