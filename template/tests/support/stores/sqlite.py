"""SQLite under test, as it is and as a store whose calls can get lost."""

import builtins
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.dedup.clock import Clock
from app.dedup.record import Fields, Record, Stamp
from app.dedup.store import Query, Store, StoreError
from app.dedup.stores.conditional import ConditionalStore, Unclear
from app.dedup.stores.sqlite import SqliteStore
from tests.support.clock import FakeClock
from tests.support.faults import Faults, Kind
from tests.support.stores import Harness, RawFields


class CountingSqlite(SqliteStore):
    """Counts its transactions."""

    def __init__(self, path: Path, clock: Clock, faults: Faults) -> None:
        super().__init__(path, clock)
        self._faults = faults

    @contextmanager
    def _atomic(self, timeout: float) -> Iterator[sqlite3.Connection]:
        if getattr(self._open, "db", None) is None:
            self._faults.next("transaction")
        with super()._atomic(timeout) as db:
            yield db


class LossyStore(ConditionalStore):
    """Makes each primitive of a store a call of its own that can get lost, as over a network."""

    def __init__(self, inner: ConditionalStore, clock: Clock, faults: Faults) -> None:
        super().__init__(clock)
        self._inner = inner
        self._faults = faults

    def close(self) -> None:
        self._inner.close()

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        yield from self._until_clear(lambda limit: self._listed(query, limit), timeout)

    def _listed(self, query: Query, limit: float) -> builtins.list[Record]:
        with self._call("list"):
            return [*self._inner.list(query, timeout=limit)]

    def _create(self, run_id: str, fields: Fields, limit: float) -> Stamp:
        with self._call("write"):
            return self._inner._create(run_id, fields, limit)

    def _read(self, run_ids: Sequence[str], limit: float) -> builtins.list[Record]:
        with self._call("read"):
            return self._inner._read(run_ids, limit)

    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        with self._call("write"):
            return self._inner._replace(run_id, fields, stamp, limit)

    def _remove(self, run_id: str, stamp: Stamp, limit: float) -> None:
        with self._call("write"):
            self._inner._remove(run_id, stamp, limit)

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        fault = self._faults.next(name)
        if fault is Kind.LOST_REQUEST:
            raise Unclear("injected: the request was lost")
        if fault is Kind.REFUSED:
            raise StoreError("injected: it was refused")
        yield
        if fault is Kind.LOST_ANSWER:
            raise Unclear("injected: the answer was lost")


class SqliteHarness(Harness):
    """SQLite on a clock that the test moves."""

    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / "runs.db"
        self.fake = FakeClock()
        self.open().get("-", timeout=1.0)  # Makes the file and its table.
        self.faults.calls.clear()

    def open(self, skew: timedelta = timedelta()) -> Store:
        # One machine has one clock.
        return CountingSqlite(self.path, self.fake.clock, self.faults)

    def clock(self, skew: timedelta = timedelta()) -> Clock:
        return self.fake.skewed(skew)

    def plant(self, run_id: str, fields: RawFields) -> None:
        stamped = {"run_id": run_id, "version": 1, "written_at": self._micros(), **fields}
        names, marks = ", ".join(stamped), ", ".join("?" * len(stamped))
        self._execute(f"INSERT INTO scheduler_runs ({names}) VALUES ({marks})", *stamped.values())

    def edit(self, run_id: str, fields: RawFields) -> None:
        changes = ", ".join(f"{name} = ?" for name in fields)
        self._execute(
            f"UPDATE scheduler_runs SET {changes} WHERE run_id = ?", *fields.values(), run_id
        )
        # The trigger has stamped the edit with this machine's time; the test has its own.
        self._execute(
            "UPDATE scheduler_runs SET version = version + 1, written_at = ? WHERE run_id = ?",
            self._micros(),
            run_id,
        )
        self._execute("UPDATE scheduler_runs_version SET last = last + 1")

    def erase(self, run_id: str) -> None:
        self._execute("DELETE FROM scheduler_runs WHERE run_id = ?", run_id)

    def raw(self, run_id: str) -> RawFields | None:
        rows = self._execute("SELECT * FROM scheduler_runs WHERE run_id = ?", run_id)
        return dict(rows[0]) if rows else None

    def pass_time(self, seconds: float) -> None:
        self.fake.advance(seconds)

    def now(self) -> datetime:
        return self.fake.wall

    def _micros(self) -> int:
        return int(self.fake.wall.timestamp() * 1_000_000)

    def _execute(self, statement: str, *values: object) -> list[sqlite3.Row]:
        adapted = [_text(value) if isinstance(value, datetime) else value for value in values]
        with closing(sqlite3.connect(self.path, timeout=5.0)) as db, db:
            db.row_factory = sqlite3.Row
            return db.execute(statement, adapted).fetchall()


class LossyHarness(SqliteHarness):
    """Stands for every store that is asked over a network, where no emulator is at hand."""

    name = "conditional"
    codes = ("UNAVAILABLE",)

    def open(self, skew: timedelta = timedelta()) -> Store:
        inner = SqliteStore(self.path, self.fake.clock)
        return LossyStore(inner, self.fake.skewed(skew), self.faults)


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a database from answering, as another process that holds its lock does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        yield
        db.execute("ROLLBACK")


@pytest.fixture
def sqlite_harness(tmp_path: Path) -> SqliteHarness:
    return SqliteHarness(tmp_path)


@pytest.fixture
def conditional_harness(tmp_path: Path) -> SqliteHarness:
    return LossyHarness(tmp_path)
