"""The stores under the soak: started, paused, and restarted where that forgets nothing."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dev.server import free_port
from tests.support.emulator import Emulator
from tests.support.redis_server import Server as RedisServer
from tests.support.stores.sqlite import locked


@dataclass(frozen=True, slots=True)
class RunningStore:
    """A store that answers.

    Attributes:
        url: `RUN_STORE_URL`.
        hanging: Keeps it from answering for as long as the context lasts.
        environ: Variables that say where it is.
        restart: Kills and starts it, None where that would lose what it has acknowledged.
    """

    url: str
    hanging: Callable[[], AbstractContextManager[None]]
    environ: Mapping[str, str] = field(default_factory=dict)
    restart: Callable[[], None] | None = None


@contextmanager
def sqlite(folder: Path) -> Iterator[RunningStore]:
    """A file; it hangs while another connection holds its lock."""
    path = folder / "runs.db"
    yield RunningStore(f"sqlite:///{path}", partial(locked, path))


@contextmanager
def redis(folder: Path) -> Iterator[RunningStore]:
    """A server that writes each change to its disk before it answers."""
    server = RedisServer(
        folder / "redis", "--save", "", "--appendonly", "yes", "--appendfsync", "always"
    )

    def restart() -> None:
        server.stop()
        server.start()

    try:
        yield RunningStore(server.url, server.hanging, restart=restart)
    finally:
        server.stop()


@contextmanager
def firestore(folder: Path) -> Iterator[RunningStore]:
    """The emulator, which keeps its documents in memory."""
    host = f"127.0.0.1:{free_port()}"
    command = ["gcloud", "emulators", "firestore", "start", f"--host-port={host}"]
    with _emulator(host, command, folder / "firestore.log", "is now running") as emulator:
        environ = {"FIRESTORE_EMULATOR_HOST": host}
        yield RunningStore("firestore://soak/(default)", emulator.hanging, environ)


@contextmanager
def spanner(folder: Path) -> Iterator[RunningStore]:
    """The emulator, which keeps its tables in memory."""
    ask = ["gcloud", "info", "--format=value(installation.sdk_root)"]
    root = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    program = Path(root, "bin", "cloud_spanner_emulator", "emulator_main")
    host = f"127.0.0.1:{free_port()}"
    command = [str(program), "--host_port", host]
    with _emulator(host, command, folder / "spanner.log", "Server address") as emulator:
        environ = {"SPANNER_EMULATOR_HOST": host}
        yield RunningStore("spanner://soak/soak/runs", emulator.hanging, environ)


@contextmanager
def _emulator(host: str, command: list[str], log: Path, ready: str) -> Iterator[Emulator]:
    emulator = Emulator(host, command, log, ready)
    try:
        emulator.wait()
        yield emulator
    finally:
        emulator.stop()


STORES: Mapping[str, Callable[[Path], AbstractContextManager[RunningStore]]] = {
    "sqlite": sqlite,
    "firestore": firestore,
    "spanner": spanner,
    "redis": redis,
}
