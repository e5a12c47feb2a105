"""What happens to the servers and to the store while the runs go on."""

import json
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.dedup.store import Store, StoreError
from tests.support.servers import Framework
from tests.support.servers.process import Server, write_folder

from proof.soak.job import FOLDER, LEASE, STANDSTILL
from proof.soak.journal import Fault, Journal
from proof.soak.stores import RunningStore

_PROBE_PAUSE = 0.2


class Fleet:
    """Servers of one framework, a dead one among them at times."""

    def __init__(
        self, framework: Framework, store: RunningStore, folder: Path, lease: float, size: int
    ) -> None:
        main = framework.main("from proof.soak.job import service", "service()")
        self._program = write_folder(folder / framework.name, framework, main)
        self._settings = _settings(framework, store, folder, lease)
        self._folder = folder
        self._started = 0
        self.servers = [self._start() for _ in range(size)]
        for server in self.servers:
            server.wait_until_ready()

    def ports(self) -> list[int]:
        """Where requests can be sent."""
        return [server.port for server in self.servers]

    def replace(self, old: Server) -> None:
        """Start a server in the place of one that has ended."""
        new = self._start()
        new.wait_until_ready()
        self.servers[self.servers.index(old)] = new

    def kill(self) -> None:
        """End all of them."""
        for server in self.servers:
            server.kill()

    def _start(self) -> Server:
        self._started += 1
        log = self._folder / f"{self._program.name}-{self._started}.log"
        return Server(self._program, log, self._settings)


def refused(folder: Path) -> set[str]:
    """Return the attempts whose server logged that the store failed to take a write of theirs."""
    signs = ("The lease was not renewed.", "The work was done, but its record was not written")
    found = set()
    for log in folder.glob("*.log"):
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith("{") and line.endswith("}") and any(sign in line for sign in signs):
                found.add(str(json.loads(line).get("attempt_id")))
    return found


def _settings(
    framework: Framework, store: RunningStore, folder: Path, lease: float
) -> dict[str, str]:
    template = Path(__file__).parents[2] / "template"
    return {
        **framework.environ,
        **store.environ,
        "RUN_STORE_URL": store.url,
        "LOG_LEVEL": "WARNING",
        "PYTHONPATH": f"{template}:{template.parent}",
        FOLDER: str(folder),
        LEASE: str(lease),
    }


class Trouble:
    """Does something to a server or to the store every now and then, until it is told to end."""

    def __init__(
        self,
        fleet: Fleet,
        store: RunningStore,
        journal: Journal,
        chance: random.Random,
        *,
        lease: float,
        pause: float,
    ) -> None:
        self._fleet = fleet
        self._store = store
        self._journal = journal
        self._chance = chance
        self._lease = lease
        self._pause = pause
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._go_on)
        self.error: BaseException | None = None

    def __enter__(self) -> "Trouble":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _go_on(self) -> None:
        kinds: list[Callable[[], None]] = [self.kill, self.kill, self.freeze, self.stop, self.hang]
        if self._store.restart is not None:
            kinds.append(self.restart)
        try:
            while not self._end.wait(self._chance.expovariate(1 / self._pause)):
                self._chance.choice(kinds)()
        except BaseException as error:
            self.error = error

    def kill(self) -> None:
        """SIGKILL."""
        server = self._any()
        begin = time.time()
        server.kill()
        self._note("kill", server.group, begin)
        self._fleet.replace(server)

    def stop(self) -> None:
        """SIGTERM, as a platform ends an instance."""
        server = self._any()
        begin = time.time()
        server.terminate()
        server.wait_for_exit()
        self._note("stop", server.group, begin)
        self._fleet.replace(server)

    def freeze(self) -> None:
        """SIGSTOP, for less than a lease or for more."""
        server = self._any()
        begin = time.time()
        server.freeze()
        self._wait(0.3, 2.0)
        server.thaw()
        self._note("freeze", server.group, begin)

    def hang(self) -> None:
        """Keep the store from answering."""
        begin = time.time()
        with self._store.hanging():
            self._wait(0.1, 1.2)
        self._note("pause", 0, begin)

    def restart(self) -> None:
        """Kill the store and start it."""
        begin = time.time()
        if self._store.restart is not None:
            self._store.restart()
        self._note("restart", 0, begin)

    def _any(self) -> Server:
        return self._chance.choice(self._fleet.servers)

    def _wait(self, least: float, most: float) -> None:
        self._end.wait(self._chance.uniform(least, most) * self._lease)

    def _note(self, what: str, group: int, begin: float) -> None:
        self._journal.add(Fault(what, group, begin, time.time()))


class Probe:
    """Asks the store all the time, and writes down when it was slow to answer."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store = store
        self._journal = journal
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._go_on)

    def __enter__(self) -> "Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _go_on(self) -> None:
        while not self._end.wait(_PROBE_PAUSE):
            begin = time.time()
            with suppress(StoreError):
                self._store.get("probe", timeout=1.0)
            if time.time() - begin > STANDSTILL:
                self._journal.add(Fault("slow store", 0, begin, time.time()))
