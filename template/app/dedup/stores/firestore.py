"""Firestore: one document per run, one Commit per write, no transaction.

A write's condition is the document's `update_time`, and both clocks of a lease, `read_time` and
`update_time`, are the server's (R16). Calls are made with `retry=None`: the client's own retry
would report a lost answer as a conflict with oneself.
"""

import builtins
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import unquote

from google.api_core import exceptions
from google.api_core.retry import Retry, if_exception_type
from google.auth.exceptions import GoogleAuthError
from google.cloud.firestore_v1._helpers import WriteOption
from google.cloud.firestore_v1.base_document import DocumentSnapshot
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.client import Client
from google.cloud.firestore_v1.document import DocumentReference
from google.cloud.firestore_v1.query import Query as Search

from app.dedup.clock import Clock
from app.dedup.record import FIELDS, Fields, Record, Stamp
from app.dedup.store import Query, StoreError
from app.dedup.stores.budget import PAGE
from app.dedup.stores.conditional import ConditionalStore, Conflict, Unclear
from app.urls import options, split

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_NAME: Final = re.compile(r"(?!\.|__)[A-Za-z0-9_.:()-]{1,100}")
"""Names of projects, databases and collections, as far as they are accepted here."""

_NEVER: Final = Retry(predicate=if_exception_type())
"""No retry, for the client's queries, which do not take None for it."""

Snapshot = DocumentSnapshot[DocumentReference]

_REFUSALS: Final = (
    exceptions.BadRequest,
    exceptions.Unauthorized,
    exceptions.Forbidden,
    exceptions.NotFound,
    exceptions.AlreadyExists,
    exceptions.MethodNotImplemented,
)
"""Answers that say for sure that nothing was written. All others are unclear (R26)."""

_CHANGED: Final = (exceptions.FailedPrecondition, exceptions.NotFound)
"""Answers to a write whose document is gone or was written since."""


def open_url(url: str, clock: Clock) -> "FirestoreStore":
    """Open `firestore://PROJECT/DATABASE?collection=scheduler_runs`.

    `DATABASE` is `(default)` where it is left out. `FIRESTORE_EMULATOR_HOST` is obeyed.

    Raises:
        ValueError: the URL has no project, or has parts that mean nothing here.
    """
    parts = split(url)
    collection = options(parts.query, ("collection",)).get("collection", "scheduler_runs")
    database = unquote(parts.path).removeprefix("/") or "(default)"
    names = (unquote(parts.netloc), database, collection)
    if parts.fragment or not all(map(_NAME.fullmatch, names)):
        raise ValueError(
            "expected firestore://PROJECT/DATABASE?collection=COLLECTION,"
            " for example firestore://my-project/(default)"
        )
    project = names[0]
    return FirestoreStore(lambda: Client(project=project, database=database), collection, clock)


class FirestoreStore(ConditionalStore):
    """The records in one collection. The client is made on first use, once for all threads."""

    def __init__(self, connect: Callable[[], Client], collection: str, clock: Clock) -> None:
        super().__init__(clock)
        self._connect = connect
        self._collection = collection
        self._lock = threading.Lock()
        self._client: Client | None = None

    def close(self) -> None:
        """Close the client's channel. The next use would make a new one."""
        with self._lock:
            if self._client is not None:
                self._client.close()  # type: ignore[no-untyped-call]
                self._client = None

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """Yield the records that `query` asks for, page by page."""
        search = self._search(query)
        while True:
            page = self._until_clear(partial(_page, search), timeout)
            yield from filter(query.matches, map(_record, page))
            if len(page) < PAGE:
                return
            search = search.start_after(page[-1])

    def _search(self, query: Query) -> Search:
        """Narrow a search as far as Firestore's automatic indexes go: times, or else the rest.

        Times beside anything else would need an index that somebody has to create.
        """
        search: Search = self._connected().collection(self._collection).select(FIELDS).limit(PAGE)
        if query.since is not None or query.until is not None:
            for operator, time in ((">=", query.since), ("<", query.until)):
                if time is not None:
                    search = search.where(filter=FieldFilter("schedule_time", operator, time))
            return search.order_by("schedule_time").order_by("__name__")
        for field, value in (("status", query.status), ("job_name", query.job_name)):
            if value is not None:
                search = search.where(filter=FieldFilter(field, "==", str(value)))
        return search.order_by("__name__")

    def _create(self, run_id: str, fields: Fields, limit: float) -> Stamp:
        with _errors(conflict=(exceptions.AlreadyExists,)):
            written = self._document(run_id).create(dict(fields), retry=None, timeout=limit)
        return _stamp(written.update_time)

    def _read(self, run_ids: Sequence[str], limit: float) -> builtins.list[Record]:
        documents = [self._document(run_id) for run_id in run_ids]
        with _errors():
            # Only what is read: a person's field may be of a kind that the client cannot decode.
            found = [*self._connected().get_all(documents, FIELDS, retry=None, timeout=limit)]
        if len(found) < len(set(run_ids)):
            raise Unclear("Firestore did not answer clearly: its answer broke off")
        return [_record(each) for each in found if each.exists]

    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        with _errors(conflict=_CHANGED):
            document = self._document(run_id)
            written = document.update(
                dict(fields), option=self._unchanged(stamp), retry=None, timeout=limit
            )
        return _stamp(written.update_time)

    def _remove(self, run_id: str, stamp: Stamp, limit: float) -> None:
        with _errors(conflict=_CHANGED):
            document = self._document(run_id)
            document.delete(option=self._unchanged(stamp), retry=None, timeout=limit)

    def _document(self, run_id: str) -> DocumentReference:
        return self._connected().collection(self._collection).document(run_id)

    def _unchanged(self, stamp: Stamp) -> WriteOption:
        return self._connected().write_option(last_update_time=stamp.version)

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                client = self._connect()
                # The client makes its channel on first use, without a lock of its own.
                client._firestore_api  # noqa: B018
                self._client = client
            return self._client


@contextmanager
def _errors(conflict: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    try:
        yield
    except conflict as error:
        raise Conflict from error
    except _REFUSALS as error:
        raise StoreError(f"Firestore refused: {error}") from error
    except GoogleAuthError as error:
        raise StoreError(f"Firestore has no credentials: {error}") from error
    # Not only the client's own errors: whatever it raises, nobody knows what has happened.
    except Exception as error:
        raise Unclear(f"Firestore did not answer clearly: {error}") from error


def _page(search: Search, limit: float) -> list[Snapshot]:
    with _errors():
        return list(search.stream(retry=_NEVER, timeout=limit))


def _record(found: Snapshot) -> Record:
    fields = found.to_dict() or {}
    return Record.parse(found.id, fields, _stamp(found.update_time), _plain(found.read_time))


def _stamp(update_time: datetime) -> Stamp:
    at = _plain(update_time)
    return Stamp(version=update_time, at=at, fence=(at - _EPOCH) // timedelta(microseconds=1))


def _plain(moment: datetime) -> datetime:
    """Return a plain datetime in place of the client's subclass with nanoseconds."""
    return _EPOCH + (moment - _EPOCH)
