"""SQLite: the embedded store of one machine, for local runs and tests (R41).

Each operation is one `BEGIN IMMEDIATE` transaction, so processes and threads take turns. The
machine's clock is the store's clock. A version is a number that rises with every write.
"""

import builtins
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from app.dedup.clock import Clock
from app.dedup.record import FIELDS, Fields, Record, Stamp, later
from app.dedup.store import Query, StoreError
from app.dedup.stores.conditional import ConditionalStore, Conflict
from app.urls import split

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EDITED: Final = """
    UPDATE scheduler_runs_version SET last = last + 1;
    UPDATE scheduler_runs SET
        version = (SELECT last FROM scheduler_runs_version),
        written_at = CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)
    WHERE run_id = NEW.run_id;
"""
# The triggers make a person's edit a write like any other: it changes the version and the time.
_SCHEMA: Final = (
    f"CREATE TABLE IF NOT EXISTS scheduler_runs (run_id TEXT PRIMARY KEY, {', '.join(FIELDS)},"
    " version INTEGER, written_at INTEGER)",
    "CREATE TABLE IF NOT EXISTS scheduler_runs_version (last INTEGER NOT NULL)",
    "INSERT INTO scheduler_runs_version SELECT 0"
    " WHERE NOT EXISTS (SELECT 1 FROM scheduler_runs_version)",
    "CREATE TRIGGER IF NOT EXISTS scheduler_runs_added AFTER INSERT ON scheduler_runs"
    f" WHEN NEW.version IS NULL BEGIN {_EDITED} END",
    "CREATE TRIGGER IF NOT EXISTS scheduler_runs_edited AFTER UPDATE ON scheduler_runs"
    f" WHEN NEW.version IS OLD.version BEGIN {_EDITED} END",
    "PRAGMA user_version = 1",
)


def open_url(url: str, clock: Clock) -> "SqliteStore":
    """Open `sqlite:///PATH`; an absolute path has a fourth slash.

    Raises:
        ValueError: the URL has no path, or has parts that mean nothing here.
    """
    parts = split(url)
    path = unquote(parts.path).removeprefix("/")
    if parts.netloc or parts.query or parts.fragment or path in ("", ":memory:"):
        raise ValueError("expected sqlite:///PATH, for example sqlite:///.local/runs.db")
    if "\0" in path:
        raise ValueError("a path has no NUL in it")
    # The job may change the working directory later.
    return SqliteStore(Path(path).absolute(), clock)


class SqliteStore(ConditionalStore):
    """The records in one file, created with its table on first use."""

    def __init__(self, path: Path, clock: Clock) -> None:
        super().__init__(clock)
        self._path = path
        self._made = False
        self._open = threading.local()
        # Threads queue here: SQLite itself would make each of them poll for its turn.
        self._turn = threading.Lock()

    def close(self) -> None:
        """Do nothing: connections live as long as their transactions."""

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """Yield the records that `query` asks for, as they stand in one transaction."""
        with self._atomic(timeout) as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM scheduler_runs").fetchall()
            now = self._clock.now()
        yield from filter(query.matches, (_record(row, now) for row in rows))

    def init(self, *, timeout: float) -> builtins.list[str]:
        """Create the file with its table, which the first use does too."""
        made = not self._path.exists()
        with self._atomic(timeout):
            return [f"the file {self._path} with the table scheduler_runs"] if made else []

    def _create(self, run_id: str, fields: Fields, limit: float) -> Stamp:
        with self._atomic(limit) as db:
            stamp = self._next_stamp(db)
            names = ("run_id", "version", "written_at", *fields)
            done = db.execute(
                f"INSERT INTO scheduler_runs ({', '.join(names)})"  # noqa: S608 names of ours
                f" VALUES ({', '.join('?' * len(names))}) ON CONFLICT DO NOTHING",
                (run_id, stamp.version, _micros(stamp.at), *map(_column, fields.values())),
            )
            return _written(db, done, stamp)

    def _read(self, run_ids: Sequence[str], limit: float) -> builtins.list[Record]:
        with self._atomic(limit) as db:
            db.row_factory = sqlite3.Row
            marks = ", ".join("?" * len(run_ids))
            rows = db.execute(
                f"SELECT * FROM scheduler_runs WHERE run_id IN ({marks})",  # noqa: S608 marks only
                run_ids,
            ).fetchall()
        now = self._clock.now()
        return [_record(row, now) for row in rows]

    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        with self._atomic(limit) as db:
            new = self._next_stamp(db)
            names = ", ".join(f"{name} = ?" for name in fields)
            values = (new.version, _micros(new.at), *map(_column, fields.values()))
            done = db.execute(
                f"UPDATE scheduler_runs SET version = ?, written_at = ?, {names}"  # noqa: S608
                " WHERE run_id = ? AND version IS ?",
                (*values, run_id, stamp.version),
            )
            return _written(db, done, new)

    def _remove(self, run_id: str, stamp: Stamp, limit: float) -> None:
        with self._atomic(limit) as db:
            done = db.execute(
                "DELETE FROM scheduler_runs WHERE run_id = ? AND version IS ?",
                (run_id, stamp.version),
            )
            _written(db, done, stamp)

    @contextmanager
    def _atomic(self, timeout: float) -> Iterator[sqlite3.Connection]:
        """Open a transaction, or join the one that this thread has open."""
        if db := getattr(self._open, "db", None):
            yield db
            return
        end = self._clock.monotonic() + max(0.0, timeout)
        if not self._turn.acquire(timeout=max(0.0, timeout)):
            raise StoreError(f"SQLite at {self._path}: other threads kept it busy")
        try:
            left = max(0.0, end - self._clock.monotonic())
            with closing(self._connect(left)) as db, _transaction(db):
                self._open.db = db
                yield db
        except (Conflict, StoreError):
            raise
        except Exception as error:
            raise StoreError(f"SQLite at {self._path}: {error}") from error
        finally:
            self._open.db = None
            self._turn.release()

    def _connect(self, timeout: float) -> sqlite3.Connection:
        """Open the file, which is made on first use and never again.

        A file that vanishes later took the records of all runs with it: that is an error, and no
        reason to start with none.
        """
        if not self._made:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        uri = f"{self._path.as_uri()}?mode={'rw' if self._made else 'rwc'}"
        db = sqlite3.connect(uri, timeout=timeout, isolation_level=None, uri=True)
        db.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            if not db.execute("PRAGMA user_version").fetchone()[0]:
                if self._made:
                    raise StoreError(f"SQLite at {self._path}: the records have been deleted")
                _set_up(db)
        except BaseException:
            db.close()
            raise
        self._made = True
        return db

    def _next_stamp(self, db: sqlite3.Connection) -> Stamp:
        """Return the stamp of the next write: the machine's time, but always above the last."""
        now = self._clock.now()
        (last,) = db.execute("SELECT last FROM scheduler_runs_version").fetchone()
        version = max(last + 1, (now - _EPOCH) // timedelta(microseconds=1))
        return Stamp(version=version, at=now, fence=version)


def _set_up(db: sqlite3.Connection) -> None:
    # Where another process is setting up the same file, it does this.
    with suppress(sqlite3.OperationalError):
        db.execute("PRAGMA journal_mode = WAL")
    with _transaction(db):
        for statement in _SCHEMA:
            db.execute(statement)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _written(db: sqlite3.Connection, cursor: sqlite3.Cursor, stamp: Stamp) -> Stamp:
    if cursor.rowcount == 0:
        raise Conflict
    db.execute("UPDATE scheduler_runs_version SET last = max(last, ?)", (stamp.version,))
    return stamp


def _record(row: sqlite3.Row, now: datetime) -> Record:
    version, written_at = row["version"], row["written_at"]
    stamp = Stamp(version, _moment(written_at), version if isinstance(version, int) else 0)
    return Record.parse(str(row["run_id"]), dict(row), stamp, now)


def _column(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


def _moment(micros: object) -> datetime | None:
    return later(_EPOCH, micros / 1e6) if isinstance(micros, int) else None
