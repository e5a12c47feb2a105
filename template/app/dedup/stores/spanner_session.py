"""One session of Spanner: single calls, each within a time limit and never repeated.

It is made of the generated client. `Database`, above it, would repeat commits, give one an hour,
and export metrics from a thread of its own.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import grpc
from google.api_core import exceptions
from google.auth.exceptions import GoogleAuthError
from google.cloud.spanner_v1 import (
    CommitRequest,
    CreateSessionRequest,
    ExecuteSqlRequest,
    Mutation,
    Session,
    SpannerClient,
    TransactionOptions,
    TransactionSelector,
    Type,
    TypeCode,
)
from google.cloud.spanner_v1.services.spanner.transports.grpc import SpannerGrpcTransport

from app.dedup.clock import Clock
from app.dedup.store import StoreError
from app.dedup.stores.conditional import Conflict, Unclear

EMULATOR: Final = "SPANNER_EMULATOR_HOST"
"""Variable with the emulator's address, host:port."""

Errors = tuple[type[Exception], ...]
"""Errors of the client that mean one thing."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SHORTEST_CALL: Final = 0.05
_WRITE: Final = TransactionOptions(read_write=TransactionOptions.ReadWrite())
_STRONG: Final = TransactionSelector(
    single_use=TransactionOptions(
        read_only=TransactionOptions.ReadOnly(strong=True, return_read_timestamp=True)
    )
)

_TYPES: Final = {
    datetime: Type(code=TypeCode.TIMESTAMP),
    list: Type(code=TypeCode.ARRAY, array_element_type=Type(code=TypeCode.STRING)),
}
"""Types of a query's parameters that Spanner would take for text."""

_REFUSALS: Final = (
    exceptions.BadRequest,
    exceptions.Unauthorized,
    exceptions.Forbidden,
    exceptions.NotFound,
    exceptions.AlreadyExists,
    exceptions.MethodNotImplemented,
)
"""Answers that say for sure that nothing was written. All others are unclear (R26)."""

_MISSING: Final = re.compile(r"\b(table|database) not found", re.IGNORECASE)
_REMEDY: Final = " (`python -m app.records init` makes the database and the tables)"


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query found. Times in it are RFC 3339 text. `read_at` is what it is a picture of."""

    rows: list[dict[str, Any]]
    read_at: datetime


@dataclass(frozen=True, slots=True)
class _Link:
    client: SpannerClient
    session: str


class SpannerSession:
    """Client and multiplexed session of a database, made on first use, once for all threads.

    `database` is its full resource name. Limits are in seconds, for all that a call needs.
    """

    def __init__(self, connect: Callable[[], SpannerClient], database: str, clock: Clock) -> None:
        self._connect = connect
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._client: SpannerClient | None = None
        self._link: _Link | None = None
        self._headers = (("google-cloud-resource-prefix", database),)
        self._leader = (*self._headers, ("x-goog-spanner-route-to-leader", "true"))

    def close(self) -> None:
        """Close the client's channel. The next use would make a new one."""
        with self._lock:
            if self._client is not None:
                self._client.transport.close()  # type: ignore[no-untyped-call]
            self._client = self._link = None

    def commit(self, mutations: Sequence[Mutation], limit: float, conflict: Errors) -> datetime:
        """Do all of `mutations`, in their order, or none, and return the commit timestamp.

        Raises:
            Conflict: with one of the `conflict` errors.
            Unclear: nobody knows whether it was done.
            StoreError: it was refused.
        """
        with self._call(limit, conflict) as (link, timeout):
            done = link.client.commit(
                request=CommitRequest(
                    session=link.session, mutations=mutations, single_use_transaction=_WRITE
                ),
                retry=None,
                timeout=timeout,
                metadata=self._leader,
            )
        return _plain(done.commit_timestamp)

    def query(self, sql: str, values: Mapping[str, object], limit: float) -> Rows:
        """Run a strong read. `values` are the query's parameters: text, lists of it, and times.

        Raises:
            Unclear: there was no clear answer.
            StoreError: it was refused.
        """
        with self._call(limit) as (link, timeout):
            found = link.client.execute_sql(
                request=ExecuteSqlRequest(
                    session=link.session,
                    sql=sql,
                    params={name: wire_value(value) for name, value in values.items()},
                    param_types={
                        name: _TYPES[type(value)]
                        for name, value in values.items()
                        if type(value) in _TYPES
                    },
                    transaction=_STRONG,
                ),
                retry=None,
                timeout=timeout,
                metadata=self._headers,
            )
        names = [field.name for field in found.metadata.row_type.fields]
        rows = [dict(zip(names, row, strict=True)) for row in found.rows]
        return Rows(rows, _plain(found.metadata.transaction.read_timestamp))

    @contextmanager
    def _call(self, limit: float, conflict: Errors = ()) -> Iterator[tuple[_Link, float]]:
        """Give a call its client, its session and the seconds that are left of `limit`."""
        end = self._clock.monotonic() + limit
        with store_errors(conflict):
            link = self._link or self._open(end)
            try:
                yield link, self._left(end)
            except exceptions.NotFound as error:
                if "Session not found" not in str(error):
                    raise
                # It ends after weeks. Nothing was done, and the next try gets a new one.
                with self._lock:
                    if self._link is link:
                        self._link = None
                raise Unclear(f"Spanner has ended the session: {error}") from error

    def _open(self, end: float) -> _Link:
        if not self._lock.acquire(timeout=self._left(end)):
            raise Unclear("Spanner did not answer clearly: another thread waits for a session")
        try:
            if self._link is None:
                self._client = self._client or self._connect()
                session = self._client.create_session(
                    request=CreateSessionRequest(
                        database=self._database, session=Session(multiplexed=True)
                    ),
                    retry=None,
                    timeout=self._left(end),
                    metadata=self._leader,
                )
                self._link = _Link(self._client, session.name)
            return self._link
        finally:
            self._lock.release()

    def _left(self, end: float) -> float:
        return max(_SHORTEST_CALL, end - self._clock.monotonic())


def connect() -> SpannerClient:
    """Make a client of Spanner, or of the emulator where its variable is set."""
    host = os.environ.get(EMULATOR)
    if host:
        return SpannerClient(transport=SpannerGrpcTransport(channel=grpc.insecure_channel(host)))
    return SpannerClient(transport=_unmetered)


@contextmanager
def store_errors(conflict: Errors = ()) -> Iterator[None]:
    """Turn the client's errors into those of a store."""
    try:
        yield
    except conflict as error:
        raise Conflict from error
    except _REFUSALS as error:
        hint = _REMEDY if _MISSING.search(str(error)) else ""
        raise StoreError(f"Spanner refused{hint}: {error}") from error
    except GoogleAuthError as error:
        raise StoreError(f"Spanner has no credentials: {error}") from error
    except exceptions.GoogleAPIError as error:
        raise Unclear(f"Spanner did not answer clearly: {error}") from error


def wire_value(value: object) -> object:
    """Return `value` as Spanner's wire format has it: times as text, the rest as it is."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value


def _unmetered(**options: Any) -> SpannerGrpcTransport:
    """Make the client's own transport, which does not measure calls.

    To label its measurements it would ask the metadata server where it runs, on the first call.
    """
    return SpannerGrpcTransport(**{**options, "metrics_interceptor": None})


def _plain(moment: datetime) -> datetime:
    """Return a plain datetime in place of the client's subclass with nanoseconds."""
    return _EPOCH + (moment - _EPOCH)
