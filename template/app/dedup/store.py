"""What the protocol asks of a store: one atomic answer to each question.

Each operation takes a `timeout` in seconds for all that it does, retries included, and raises
`StoreError` when it cannot tell. Implementations are safe to use from many threads.
"""

import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from app.dedup.delivery import Run as Run
from app.dedup.record import Record, Stamp, Status, later


class StoreError(Exception):
    """The store did not do what was asked, or nobody can tell. `__cause__` is its own error."""


class UnsafeStore(StoreError):
    """The store answers, but is set up to forget records. `str()` says how to change that."""


_RENEWALS_PER_LEASE: Final = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a claim lives without renewal and how long its record is kept, in seconds.

    The record is kept for `retention` after the schedule time or the last write, whichever is
    later (R29). The last `settle` of the lease are for what a dead attempt has called (R22).
    """

    lease: float
    retention: float
    settle: float = 0.0

    @property
    def period(self) -> float:
        """The seconds from one renewal to the next, as without the settle time."""
        return (self.lease - self.settle) / _RENEWALS_PER_LEASE

    def end(self, run: Run, now: datetime) -> datetime:
        """Return until when a record of `run` that is written `now` is kept (R29)."""
        return later(max(run.schedule_time or now, now), self.retention)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right of one attempt to work on a run, as the store last confirmed it.

    `recovered`: an earlier attempt may have done part of the work (R13). `fence` rises with
    every claim of a run. `stamp` is the store's answer to the last write.
    """

    run: Run
    attempt_id: str
    terms: Terms
    recovered: bool
    fence: int
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Claimed:
    """The run is the caller's (R10, R13). `now` is the store's time."""

    claim: Claim
    now: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """Another attempt is at work for at most `lease_left` seconds more (R12)."""

    record: Record
    lease_left: float
    now: datetime


@dataclass(frozen=True, slots=True)
class Closed:
    """The run is completed or has failed for good (R11, R23)."""

    record: Record
    now: datetime


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The record's status is unknown; nothing may be done about the run (R17)."""

    record: Record
    now: datetime


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The record is another request's, which had the same key and another payload."""

    record: Record
    now: datetime


ClaimAnswer = Claimed | Held | Closed | Unreadable | Mismatch


@dataclass(frozen=True, slots=True)
class Lost:
    """The claim is no longer the caller's and nothing was written. `record` is what is there."""

    record: Record | None


@dataclass(frozen=True, slots=True)
class Query:
    """Which records to list; None does not restrict.

    Times are schedule times: since <= t < until.
    """

    status: Status | None = None
    job_name: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def matches(self, record: Record) -> bool:
        """Tell whether a record is asked for. A store may narrow the search; this decides.

        A record whose schedule time is missing or odd (R17) is in no span of time.
        """
        if self.status is not None and record.status is not self.status:
            return False
        if self.job_name is not None and record.job_name != self.job_name:
            return False
        if self.since is None and self.until is None:
            return True
        time = record.schedule_time
        return (
            time is not None
            and (self.since is None or self.since <= time)
            and (self.until is None or time < self.until)
        )


class Store(Protocol):
    """Where the records of all runs are."""

    def claim(self, run: Run, attempt_id: str, terms: Terms, *, timeout: float) -> ClaimAnswer:
        """Claim `run` for the attempt, or tell why not (R10-R17)."""

    def renew(self, claim: Claim, *, timeout: float) -> Claim | Lost:
        """Start the claim's lease anew if it is still the caller's (R18, R19)."""

    def finish(
        self, claim: Claim, status: Status, result: str | None, *, timeout: float
    ) -> Lost | None:
        """Make the record final if it is still the caller's (R20, R23). `result` is JSON."""

    def release(self, claim: Claim, *, settle: float | None, timeout: float) -> Lost | None:
        """Give the claim up if it is still the caller's (R21, R22).

        `settle` None deletes the record; a number ends its lease that many seconds from now, so
        that the next attempt knows that it takes over.
        """

    def get(self, run_id: str, *, timeout: float) -> Record | None:
        """Read a record."""

    def get_many(self, run_ids: Iterable[str], *, timeout: float) -> Iterator[Record]:
        """Yield the records that are there of `run_ids`, in no promised order (R40).

        Some hundred are read by one call of the store; `timeout` is for each.
        """

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """Yield the records that `query` asks for, in no promised order (R40).

        `timeout` is for each call of the store, of which a long list takes several.
        """

    def delete(self, record: Record, *, timeout: float) -> bool:
        """Delete a record if it has not been written since it was read; False if it has (R40)."""

    def init(self, *, timeout: float) -> builtins.list[str]:
        """Create what the store needs and is not there, and return a line for each thing made."""

    def check(self, *, timeout: float) -> None:
        """Look, before the first request, whether the store keeps what it is given.

        Raises:
            UnsafeStore: it does not.
            StoreError: it does not answer, which may pass.
        """

    def close(self) -> None:
        """Let go of connections and threads. The store is not used afterwards."""
