"""Spanner (GoogleSQL): one row per run, one Commit per write, no transaction of several calls.

A Commit of mutations has no conditions of its own, so each run has a row of its current version
below it. Every later write updates the version that it knows, which fails where that row is gone,
deletes it and inserts a new one. A run that a person inserted has no version: of those that would
write it first, the one wins that inserts the empty version, which then stays. Leases are judged by
commit timestamps and the time of the read, both the server's (R16).

What a person inserts, deletes, or updates as `spanner.sql` shows, is noticed like any other write.
A bare UPDATE is seen by every claim, but not by the attempt that holds the run: its next write goes
on top of it, and a release deletes the row. The lease then counts from the last write before it.
"""

import builtins
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from google.api_core import exceptions
from google.cloud.spanner_v1 import COMMIT_TIMESTAMP, KeySetPB, Mutation, SpannerClient

from app.dedup.clock import Clock
from app.dedup.delivery import Instant
from app.dedup.record import Fields, Record, Stamp
from app.dedup.store import Query
from app.dedup.stores.budget import PAGE
from app.dedup.stores.conditional import ConditionalStore, Unclear
from app.dedup.stores.spanner_session import SpannerSession, connect, store_errors, wire_value
from app.urls import options, split

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_VERSION: Final = ""
_PLACE: Final = re.compile(r"([a-z0-9.:-]+)/([a-z][a-z0-9-]*)/([a-z][a-z0-9_-]*)")
# Spanner allows 128 characters; the name of the versions' table is longer by eight.
_TABLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,119}")

_THERE: Final = (exceptions.AlreadyExists,)
"""Answer to a new run's first write where it is not new."""

_CHANGED: Final = (exceptions.NotFound, exceptions.AlreadyExists)
"""Answers to a write whose version is gone, or whose lack of a version is."""


def open_url(url: str, clock: Clock) -> "SpannerStore":
    """Open `spanner://PROJECT/INSTANCE/DATABASE?table=scheduler_runs`.

    `SPANNER_EMULATOR_HOST` is obeyed.

    Raises:
        ValueError: the URL lacks a part, or has parts that mean nothing here.
    """
    parts = split(url)
    table = options(parts.query, ("table",)).get("table", "scheduler_runs")
    place = _PLACE.fullmatch(parts.netloc + parts.path)
    if place is None or parts.fragment or not _TABLE.fullmatch(table):
        raise ValueError(
            "expected spanner://PROJECT/INSTANCE/DATABASE?table=TABLE,"
            " for example spanner://my-project/my-instance/scheduler"
        )
    project, instance, database = place.groups()
    name = f"projects/{project}/instances/{instance}/databases/{database}"
    return SpannerStore(connect, name, table, clock)


class SpannerStore(ConditionalStore):
    """The records in one table of a database.

    `database` is its full resource name, `table` a checked name; `spanner.sql` has the columns.
    """

    def __init__(
        self, connect: Callable[[], SpannerClient], database: str, table: str, clock: Clock
    ) -> None:
        super().__init__(clock)
        self._session = SpannerSession(connect, database, clock)
        self._database = database
        self._table = table
        self._versions = f"{table}_version"

    def init(self, *, timeout: float) -> builtins.list[str]:
        """Create the database and its tables where they are missing (R40)."""
        # Only people make tables; the service does not load what that takes.
        from app.dedup.stores import spanner_schema

        with store_errors():
            try:
                return spanner_schema.create(self._database, self._table, timeout)
            except TimeoutError as error:
                raise Unclear(f"Spanner is still making the table {self._table}") from error

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """Yield the records that `query` asks for, in the order of their keys, page by page."""
        terms = {
            "r.status = @status": query.status,
            "r.job_name = @job_name": query.job_name,
            "r.schedule_time >= @since": query.since,
            "r.schedule_time < @until": query.until,
        }
        asked = {term: value for term, value in terms.items() if value is not None}
        values = {term.partition("@")[2]: value for term, value in asked.items()}
        where = " AND ".join(["r.run_id > @after", *asked])
        search = f"{where} ORDER BY r.run_id LIMIT {PAGE}"
        after = ""
        while True:
            read = partial(self._select, search, {**values, "after": after})
            page = self._until_clear(read, timeout)
            yield from filter(query.matches, page)
            if len(page) < PAGE:
                return
            after = page[-1].run_id

    def close(self) -> None:
        """Close the client's channel. The next use would make a new one."""
        self._session.close()

    def _create(self, run_id: str, fields: Fields, limit: float) -> Stamp:
        version = _new_version()
        mutations = [
            Mutation(insert=self._row(run_id, fields)),
            Mutation(insert=self._version_row(run_id, version)),
        ]
        return _stamp(version, self._session.commit(mutations, limit, _THERE))

    def _read(self, run_ids: Sequence[str], limit: float) -> builtins.list[Record]:
        return self._select("r.run_id IN UNNEST(@run_ids)", {"run_ids": [*run_ids]}, limit)

    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        version = _new_version()
        mutations = [
            *self._if_unchanged(run_id, stamp),
            Mutation(insert=self._version_row(run_id, version)),
            Mutation(update=self._row(run_id, fields)),
        ]
        return _stamp(version, self._session.commit(mutations, limit, _CHANGED))

    def _remove(self, run_id: str, stamp: Stamp, limit: float) -> None:
        mutations = [
            *self._if_unchanged(run_id, stamp),
            Mutation(delete=_row_of(self._table, run_id)),
        ]
        self._session.commit(mutations, limit, _CHANGED)

    def _if_unchanged(self, run_id: str, stamp: Stamp) -> builtins.list[Mutation]:
        """Return the mutations that fail if the run was written since `stamp`."""
        if stamp.version is None:
            return [Mutation(insert=self._version_row(run_id, _NO_VERSION))]
        return [
            Mutation(update=self._version_row(run_id, stamp.version)),
            Mutation(delete=_row_of(self._versions, run_id, stamp.version)),
        ]

    def _row(self, run_id: str, fields: Fields) -> Mutation.Write:
        values = {"run_id": run_id, **fields, "written_at": COMMIT_TIMESTAMP}
        return _values_of(self._table, values)

    def _version_row(self, run_id: str, version: object) -> Mutation.Write:
        return _values_of(self._versions, {"run_id": run_id, "version": version})

    def _select(self, where: str, values: Fields, limit: float) -> builtins.list[Record]:
        """Read the runs that match `where`, each with its version and the time of the read."""
        found = self._session.query(
            "SELECT r.*, CURRENT_TIMESTAMP() AS read_at, (SELECT MAX(v.version)"  # noqa: S608
            f" FROM `{self._versions}` AS v WHERE v.run_id = r.run_id) AS version"
            f" FROM `{self._table}` AS r WHERE {where}",
            values,
            limit,
        )
        return [_record(row, found.read_at) for row in found.rows]


def _new_version() -> str:
    return secrets.token_hex(16)


def _values_of(table: str, values: Fields) -> Mutation.Write:
    row = [wire_value(value) for value in values.values()]
    return Mutation.Write(table=table, columns=[*values], values=[row])


def _row_of(table: str, *key: object) -> Mutation.Delete:
    return Mutation.Delete(table=table, key_set=KeySetPB(keys=[[*key]]))


def _record(row: Mapping[str, Any], read_at: datetime) -> Record:
    # A strong read's own time may be as early as the last write that it sees; the server's clock
    # goes on, and may be behind that time by a moment.
    now = max(read_at, Instant.parse(row["read_at"]).moment)
    written = row.get("written_at") or row.get("added_at")
    at = Instant.parse(written).moment if written else None
    return Record.parse(row["run_id"], row, _stamp(row["version"], at), now)


def _stamp(version: str | None, at: datetime | None) -> Stamp:
    fence = (at - _EPOCH) // timedelta(microseconds=1) if at else 0
    return Stamp(version=version, at=at, fence=fence)
