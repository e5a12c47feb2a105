"""One framework on one store: its servers, and all that a test does with them."""

import json
import sqlite3
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from app.dedup.delivery import JobScope, Trigger, read_delivery
from app.dedup.record import Record
from app.dedup.store import Store
from app.dedup.stores import open_store
from tests.support.jobs import Effects, Plan
from tests.support.servers import Framework
from tests.support.servers.gates import Gates, eventually
from tests.support.servers.process import SERVICE, Server, write_folder
from tests.support.servers.variants import FOLDER, SETTINGS
from tests.support.servers.wire import Answer, Fields, send
from tests.support.stores import Hanging

LEASE: Final = 1.0
"""Seconds of the lease in tests that wait for its end."""

QUICK: Final[Mapping[str, object]] = {"lease": LEASE}
"""Settings with that lease."""

_STORE_TIMEOUT: Final = 5.0


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A scheduled run, with a job name that no other test uses."""

    job_name: str = field(default_factory=lambda: f"job-{uuid.uuid4().hex}")
    schedule_time: str = field(default_factory=lambda: datetime.now(UTC).isoformat())

    def fields(self) -> list[tuple[str, str]]:
        """Return the header fields that Cloud Scheduler sends."""
        return [
            ("X-CloudScheduler-JobName", self.job_name),
            ("X-CloudScheduler-ScheduleTime", self.schedule_time),
        ]

    def raw_fields(self) -> list[tuple[bytes, bytes]]:
        """Return the same as bytes."""
        return [(name.encode(), value.encode()) for name, value in self.fields()]

    @property
    def run_id(self) -> str:
        """The run's key at the tests' servers."""
        headers = {name.lower(): (value,) for name, value in self.fields()}
        delivery = read_delivery(headers, "/", {}, JobScope.NONE)
        return delivery.run_id(SERVICE, Trigger.SCHEDULED)


class Site:
    """Servers of one framework that share a store, a job, its effects and its gates."""

    def __init__(
        self,
        framework: Framework,
        url: str,
        environ: Mapping[str, str],
        hanging: Hanging,
        folder: Path,
    ) -> None:
        main = framework.main(
            "from tests.support.servers.variants import create_variants", "create_variants()"
        )
        self.url = url
        self.hanging = hanging
        self.store: Store = open_store(url)
        self.effects = Effects(folder / "effects")
        self.gates = Gates(folder / "gates")
        self._folder = folder
        self._program = write_folder(folder / "program", framework, main)
        self._settings = {
            **framework.environ,
            **environ,
            "RUN_STORE_URL": url,
            FOLDER: str(folder),
        }
        self._running: list[Server] = []
        self._all: list[Server] = []
        self.senders = ThreadPoolExecutor(max_workers=64)

    def servers(self, count: int) -> list[Server]:
        """Return so many running servers; a test that harms none of them can share them."""
        for number in range(len(self._all), len(self._all) + count - len(self._running)):
            server = Server(self._program, self._folder / f"{number}.log", self._settings)
            self._all.append(server)
            self._running.append(server)
        for server in self._running[:count]:
            server.wait_until_ready()
        return self._running[:count]

    @property
    def server(self) -> Server:
        """The server that all tests share."""
        return self.servers(1)[0]

    def victim(self) -> Server:
        """Return a running server that nobody else will use any more."""
        server = self.servers(2)[-1]
        self._running.remove(server)
        return server

    def give_back(self, server: Server) -> None:
        """Say that a victim is alive and well, and can be used again."""
        self._running.append(server)

    def close(self) -> None:
        """Kill the servers."""
        for server in self._all:
            server.kill()
        self.senders.shutdown()
        self.store.close()

    def deliver(
        self,
        run: Scheduled,
        plan: Plan | None = None,
        *,
        to: Server | None = None,
        settings: Mapping[str, object] | None = None,
        fields: Fields = (),
        target: str = "/",
    ) -> Answer:
        """Deliver `run` and return the answer."""
        return send(
            (to or self.server).port,
            "POST",
            target,
            [*run.fields(), *wish(settings), *fields],
            (plan or Plan()).body(),
        )

    def start(
        self,
        run: Scheduled,
        plan: Plan | None = None,
        *,
        to: Server | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> "Future[Answer]":
        """Deliver `run` in the background."""
        target = to or self.server
        return self.senders.submit(self.deliver, run, plan, to=target, settings=settings)

    def deliver_until_free(self, run: Scheduled, plan: Plan | None = None) -> Answer:
        """Deliver `run` until it is not in progress any more; return the last answer."""
        answers: list[Answer] = []

        def is_free() -> bool:
            answers.append(self.deliver(run, plan, settings=QUICK))
            return answers[-1].outcome != (409, "in_progress")

        eventually("the run is free", is_free)
        return answers[-1]

    def wait_for_start(self, run: Scheduled) -> None:
        """Return when the job has begun with `run`."""
        eventually("the job begins", lambda: bool(self.effects.starts(run.run_id)))

    def record(self, run_id: str) -> Record | None:
        """Read the record of a run."""
        return self.store.get(run_id, timeout=_STORE_TIMEOUT)

    def run_ids(self) -> set[str]:
        """Return the keys of all records in an SQLite store."""
        path = Path(self.url.removeprefix("sqlite:///"))
        if not path.exists():
            return set()
        with closing(sqlite3.connect(path)) as db:
            return {row[0] for row in db.execute("SELECT run_id FROM scheduler_runs")}

    def pass_time(self, run: Scheduled, seconds: float) -> None:
        """Make a run's record in an SQLite store so much older."""
        path = self.url.removeprefix("sqlite:///")
        change = "SET version = version + 1, written_at = written_at - ? WHERE run_id = ?"
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(f"UPDATE scheduler_runs {change}", (int(seconds * 1e6), run.run_id))

    def erase(self, record: Record) -> None:
        """Delete a record as a person would."""
        assert self.store.delete(record, timeout=_STORE_TIMEOUT)


def wish(settings: Mapping[str, object] | None) -> Iterable[tuple[str, str]]:
    """Return the header field that asks for other settings than the server's own."""
    return [(SETTINGS, json.dumps(settings))] if settings else []
