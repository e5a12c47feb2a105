"""The protocol over any store that can write under a condition (R10-R17, R26).

A store gives four primitives: create if absent, read, replace and remove if unchanged. Each answer
is one of: done, the condition did not hold (`Conflict`), nobody knows (`Unclear`), or surely not
done (`StoreError`). The operations below turn them into certain answers: what is unclear is read
back and compared by `attempt_id`, and written again under the same condition. What was surely not
done ends an operation, except for `finish`, which tries again (R25). All loops are bounded by the
operation's time.
"""

import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from app.dedup.clock import Clock
from app.dedup.record import Decision, Fields, Record, Stamp, Status, decide, later
from app.dedup.store import (
    Claim,
    ClaimAnswer,
    Claimed,
    Closed,
    Held,
    Lost,
    Mismatch,
    Query,
    Run,
    StoreError,
    Terms,
    Unreadable,
)
from app.dedup.stores.budget import Budget, insisted, pages, resolved
from app.logs import Log

_UNDO_TIMEOUT: Final = 2.0

_Answer = TypeVar("_Answer")

_log = Log(__name__)


class Conflict(Exception):
    """The condition of a write did not hold: the record is there, or is not as it was."""


class Unclear(StoreError):
    """The call may have happened or not."""


class ConditionalStore(ABC):
    """A store made of four primitives. `limit` is the time limit of one call in seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._skew = timedelta()

    @abstractmethod
    def _create(self, run_id: str, fields: Fields, limit: float) -> Stamp:
        """Write a record where none is; `Conflict` if there is one."""

    @abstractmethod
    def _read(self, run_ids: Sequence[str], limit: float) -> builtins.list[Record]:
        """Read the records that are there of some keys, each with the store's time of the read."""

    @abstractmethod
    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        """Write `fields` over a record if it was not written since `stamp`, else `Conflict`."""

    @abstractmethod
    def _remove(self, run_id: str, stamp: Stamp, limit: float) -> None:
        """Delete a record if it was not written since `stamp`, else `Conflict`."""

    def _atomic(self, timeout: float) -> AbstractContextManager[object]:
        """Make the primitives inside one transaction, where the store has cheap ones."""
        return nullcontext()

    @abstractmethod
    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """Yield the records that `query` asks for, in no promised order."""

    def init(self, *, timeout: float) -> builtins.list[str]:
        """Create nothing: a store that needs something made says so itself."""
        return []

    def check(self, *, timeout: float) -> None:  # noqa: B027  (most stores need no other)
        """Ask nothing: what is written here stays until it expires."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and threads."""

    def get(self, run_id: str, *, timeout: float) -> Record | None:
        """Read a record, in as many tries as the time allows."""
        return self._until_clear(partial(self._read_one, run_id), timeout)

    def get_many(self, run_ids: Iterable[str], *, timeout: float) -> Iterator[Record]:
        """Read records page by page, each in as many tries as the time allows."""
        for page in pages(run_ids):
            yield from self._until_clear(partial(self._read, page), timeout)

    def delete(self, record: Record, *, timeout: float) -> bool:
        """Delete a record that is as it was read: one call."""
        budget = Budget(self._clock, timeout)
        problem: StoreError | None = None
        with self._atomic(timeout):
            for _ in budget:
                try:
                    self._remove(record.run_id, record.stamp, budget.limit())
                    return True
                except Conflict:
                    if problem is None:
                        return False
                except Unclear as error:
                    problem = error
                    budget.pause()
                    continue
                # An earlier try may have deleted it: then it is gone, whoever did it.
                gone = self.get(record.run_id, timeout=budget.limit()) is None
                if gone:
                    resolved(problem)
                return gone
        raise problem or StoreError("there was no time to delete the record")

    def claim(self, run: Run, attempt_id: str, terms: Terms, *, timeout: float) -> ClaimAnswer:
        """Claim `run`: one call for a new run, two for a duplicate, three for a takeover."""
        budget = Budget(self._clock, timeout)
        old: Record | None = None
        problem: StoreError | None = None
        with self._atomic(timeout):
            for _ in budget:
                try:
                    stamp = self._write_claim(run, attempt_id, terms, old, budget.limit())
                    return self._claimed(run, attempt_id, terms, stamp, recovered=old is not None)
                except Conflict:
                    pass
                except Unclear as error:
                    problem = error
                    budget.pause()
                try:
                    record = self._read_one(run.run_id, budget.limit())
                except Unclear as error:
                    problem = error
                    budget.pause()
                    continue
                if record is None:
                    old = None
                    continue
                self._heard(record.read_at)
                match decide(record, attempt_id, run.payload_sha256):
                    case Decision.OWN:
                        resolved(problem)
                        recovered = old is not None
                        return self._claimed(
                            run, attempt_id, terms, record.stamp, recovered=recovered
                        )
                    case Decision.WAIT:
                        return Held(record, record.lease_left(), record.read_at)
                    case Decision.FINAL:
                        return Closed(record, record.read_at)
                    case Decision.REFUSE:
                        return Unreadable(record, record.read_at)
                    case Decision.MISMATCH:
                        return Mismatch(record, record.read_at)
                    case Decision.TAKE_OVER:
                        old = record
            self._undo(run.run_id, attempt_id, recovered=old is not None)
        raise problem or StoreError("the record kept changing while it was being claimed")

    def renew(self, claim: Claim, *, timeout: float) -> Claim | Lost:
        """Start the lease anew: one call."""
        fields = self._lease_fields(claim.terms.lease)

        def happened(record: Record | None, before: Stamp) -> bool:
            return (
                record is not None
                and record.held_by(claim.attempt_id)
                and record.stamp.version != before.version
            )

        answer = self._change(claim, fields, happened, timeout)
        return answer if isinstance(answer, Lost) else replace(claim, stamp=answer)

    def finish(
        self, claim: Claim, status: Status, result: str | None, *, timeout: float
    ) -> Lost | None:
        """Make the record final: one call, again and again where it is refused (R25)."""
        now = self._now()
        fields = {
            "status": status.value,
            "finished_at": now,
            "result": result,
            "expire_at": claim.terms.end(claim.run, now),
        }

        def happened(record: Record | None, before: Stamp) -> bool:
            return (
                record is not None
                and record.status is status
                and record.attempt_id == claim.attempt_id
            )

        def write(left: float, problem: StoreError | None) -> Stamp | Lost:
            return self._change(claim, fields, happened, left, problem)

        answer = insisted(self._clock, timeout, write)
        # Whoever repeated the write on its way got a conflict with itself.
        if isinstance(answer, Lost) and not happened(answer.record, claim.stamp):
            return answer
        return None

    def release(self, claim: Claim, *, settle: float | None, timeout: float) -> Lost | None:
        """Delete the record or end its lease in `settle` seconds: one call."""
        fields = None if settle is None else self._lease_fields(settle)

        def happened(record: Record | None, before: Stamp) -> bool:
            if record is None or settle is None:
                return record is None and settle is None
            return record.held_by(claim.attempt_id) and record.lease_seconds == settle

        answer = self._change(claim, fields, happened, timeout)
        return answer if isinstance(answer, Lost) else None

    def _read_one(self, run_id: str, limit: float) -> Record | None:
        found = self._read([run_id], limit)
        return found[0] if found else None

    def _until_clear(self, read: Callable[[float], _Answer], timeout: float) -> _Answer:
        """Return what `read`, given the limit of a call, answers in a try that is clear (R26)."""
        budget = Budget(self._clock, timeout)
        problem: StoreError | None = None
        for _ in budget:
            try:
                return read(budget.limit())
            except Unclear as error:
                problem = error
                budget.pause()
        raise problem or StoreError("there was no time to ask the store")

    def _change(
        self,
        claim: Claim,
        fields: Fields | None,
        happened: Callable[[Record | None, Stamp], bool],
        timeout: float,
        problem: StoreError | None = None,
    ) -> Stamp | Lost:
        """Write `fields` (None: delete) while the record is the claim's (R19, R26).

        `happened` tells from what was read back, and from the stamp before the write, whether an
        unclear write took effect. `problem` is what went wrong with earlier writes of the same.
        """
        run_id = claim.run.run_id
        budget = Budget(self._clock, timeout)
        stamp = claim.stamp
        with self._atomic(timeout):
            for _ in budget:
                try:
                    if fields is None:
                        self._remove(run_id, stamp, budget.limit())
                        return stamp
                    written = self._replace(run_id, fields, stamp, budget.limit())
                    if written.version == claim.stamp.version:
                        # To some stores that was no write: the lease goes on from the last one. A
                        # later version than the claim's is this write, made by an earlier try.
                        raise StoreError("the write left the record as it was")
                    return written
                except Conflict:
                    pass
                except Unclear as error:
                    problem = error
                    budget.pause()
                try:
                    record = self._read_one(run_id, budget.limit())
                except Unclear as error:
                    problem = error
                    budget.pause()
                    continue
                if problem is not None and happened(record, stamp):
                    resolved(problem)
                    return record.stamp if record else stamp
                if record is None or not record.held_by(claim.attempt_id):
                    return Lost(record)
                # Still ours, but written by a person since: their version is the new condition.
                stamp = record.stamp
        raise problem or StoreError("the record kept changing while it was being written")

    def _write_claim(
        self, run: Run, attempt_id: str, terms: Terms, old: Record | None, limit: float
    ) -> Stamp:
        now = self._now()
        fields = {
            **self._lease_fields(terms.lease),
            "status": Status.IN_PROGRESS.value,
            "attempt_id": attempt_id,
            "expire_at": terms.end(run, now),
            "job_name": run.job_name,
            "schedule_time": run.schedule_time,
            "project": run.project,
            "location": run.location,
            "forced": run.forced,
            "claimed_at": now,
            # A column of its own only where it is used: most runs have no payload to compare.
            **({"payload_sha256": run.payload_sha256} if run.payload_sha256 else {}),
        }
        if old is None:
            return self._create(run.run_id, fields, limit)
        return self._replace(run.run_id, fields, old.stamp, limit)

    def _claimed(
        self, run: Run, attempt_id: str, terms: Terms, stamp: Stamp, *, recovered: bool
    ) -> Claimed:
        now = stamp.at or self._now()
        self._heard(now)
        return Claimed(Claim(run, attempt_id, terms, recovered, stamp.fence, stamp), now)

    def _undo(self, run_id: str, attempt_id: str, *, recovered: bool) -> None:
        """Give back a claim that may have been made, as far as that can be done (R26)."""
        budget = Budget(self._clock, _UNDO_TIMEOUT)
        try:
            record = self._read_one(run_id, budget.limit())
            if record is None or not record.held_by(attempt_id):
                return
            if recovered:
                self._replace(run_id, self._lease_fields(0.0), record.stamp, budget.limit())
            else:
                self._remove(run_id, record.stamp, budget.limit())
        except (Conflict, StoreError) as error:
            _log.warning("A claim in doubt ends with its lease.", error=error)

    def _lease_fields(self, lease: float) -> dict[str, object]:
        return {"lease_seconds": lease, "lease_expires": later(self._now(), lease)}

    def _now(self) -> datetime:
        """Return the store's time as far as it is known here: for people, never for decisions."""
        return later(self._clock.now(), self._skew.total_seconds())

    def _heard(self, now: datetime) -> None:
        self._skew = now - self._clock.now()
