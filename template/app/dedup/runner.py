"""The protocol: claim, run, finish (R10-R28). Read it from top to bottom.

A `Runner` decides nothing about records; the store does that atomically. It decides what an
answer of the store means for the job and for Cloud Scheduler.
"""

import hashlib
import inspect
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from app.dedup import outcome
from app.dedup.attempt import (
    Attempt,
    ClaimLost,
    GiveUp,
    JobResult,
    OutcomeUnknown,
    StepAttempt,
)
from app.dedup.clock import Clock
from app.dedup.delivery import Identity
from app.dedup.lease import Renewal
from app.dedup.outcome import Outcome
from app.dedup.record import Record, Status
from app.dedup.result import kept_of, kept_reason, reason_of, words_of
from app.dedup.store import (
    Claim,
    ClaimAnswer,
    Claimed,
    Closed,
    Held,
    Lost,
    Mismatch,
    Run,
    Store,
    StoreError,
    Terms,
    Unreadable,
)
from app.dedup.threads import SYSTEM_THREADS, Threads
from app.logs import Log, bind
from app.shutdown import Shutdown

Job = Callable[[Any], JobResult | Awaitable[JobResult]]
"""The owner's function; `async def` works too.

It takes an `Attempt`, or a `StepAttempt` where the identity has no schedule time.
"""

CLAIM_TIMEOUT: Final = 8.0
"""Seconds for a claim with all its tries, within the request's own limit (R26)."""

RELEASE_TIMEOUT: Final = 2.0
"""Seconds for a release, so that it fits between SIGTERM and SIGKILL (R27)."""

FINISH_TIMEOUT: Final = 3.0
"""Seconds for a finish at the least, even where lease and request are over (R25)."""

SETTLE: Final = 30.0
"""Seconds after which a run of unknown outcome may be looked at again (R22)."""

_log = Log(__name__)


def random_id() -> str:
    """Return an id that no other attempt has: 128 random bits in hex."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Payload:
    """What came with a delivery besides its identity, and when: `received` is monotonic seconds."""

    body: bytes
    headers: dict[str, str]
    received: float


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs deliveries of one service.

    Attributes:
        service: Name in the key (R08).
        separate_forced_runs: Forced runs have keys of their own (R06).
        request_timeout: Seconds that a request may take (R18).
        compares_payload: A request whose run's record keeps another body's digest is refused.
        new_id: Makes the id of an attempt.
    """

    store: Store
    terms: Terms
    service: str
    separate_forced_runs: bool
    request_timeout: float
    shutdown: Shutdown
    clock: Clock
    compares_payload: bool = False
    threads: Threads = SYSTEM_THREADS
    new_id: Callable[[], str] = random_id

    def run(self, identity: Identity, payload: Payload, job: Job) -> Outcome:
        """Run `job` for a request unless its run is done or being done."""
        attempt_id = self.new_id()
        deadline = payload.received + self.request_timeout
        sent = self.clock.monotonic()
        if self.shutdown.begun:
            return outcome.Unavailable("this instance is shutting down")
        if sent >= deadline:
            return outcome.Unavailable("the request's time was over before it could start")
        try:
            answer = self._claim(identity, payload, attempt_id, min(CLAIM_TIMEOUT, deadline - sent))
        except StoreError as error:
            _log.error("The store failed; the job did not run.", error=error)
            return outcome.Unavailable(f"the store failed: {error}")
        match answer:
            case Held(record, lease_left):
                _log.info("Another attempt is at work.", event="in_progress")
                return outcome.InProgress(record.run_id, lease_left)
            case Closed(record):
                return _closed(record)
            case Unreadable(record):
                _log.error("The record's status is unknown; the run is left alone.")
                return outcome.Unavailable("the record's status is unknown", record.run_id)
            case Mismatch():
                return _mismatch()
            case Claimed(claim):
                return self._start(claim, payload, job, sent, deadline)

    def _claim(
        self, identity: Identity, payload: Payload, attempt_id: str, timeout: float
    ) -> ClaimAnswer:
        """Claim by this instance's clock; if the store's clock disagrees, by the store's (R06)."""
        run = self._run_of(identity, payload, self.clock.now())
        end = self.clock.monotonic() + timeout
        answer = self._claim_run(run, attempt_id, timeout)
        truth = self._run_of(identity, payload, answer.now)
        if truth == run:
            return answer
        _log.warning("This instance's clock disagrees with the store's about a forced run.")
        if isinstance(answer, Claimed):
            self.store.release(
                answer.claim, settle=_settle(answer.claim, None), timeout=RELEASE_TIMEOUT
            )
        return self._claim_run(truth, attempt_id, end - self.clock.monotonic())

    def _start(
        self, claim: Claim, payload: Payload, job: Job, sent: float, deadline: float
    ) -> Outcome:
        """Start the work only while the claim is certainly ours and there is time (R19, R27)."""
        while True:
            now = self.clock.monotonic()
            told = self.shutdown.begun
            if told or now >= deadline:
                self._release(claim)
                reason = "this instance is shutting down" if told else "no time was left"
                return outcome.Unavailable(reason, claim.run.run_id)
            if now - sent < claim.terms.lease:
                return self._work(claim, payload, job, sent, deadline)
            # The process stood still meanwhile; another attempt may have taken over.
            try:
                answer = self.store.renew(claim, timeout=min(CLAIM_TIMEOUT, deadline - now))
            except StoreError as error:
                self._release(claim)
                return outcome.Unavailable(f"the store failed: {error}", claim.run.run_id)
            if isinstance(answer, Lost):
                return _lost(claim, answer.record)
            claim, sent = answer, now

    def _work(
        self, claim: Claim, payload: Payload, job: Job, sent: float, deadline: float
    ) -> Outcome:
        """Run the job under the claim's lease and record how it ended (R18-R25)."""
        attempt = self._attempt(claim, payload, deadline)
        _log.info(
            "The run is claimed.",
            event="claimed",
            recovered=claim.recovered,
            forced=claim.run.forced,
            fence=claim.fence,
        )
        renewal = Renewal(
            self.store,
            claim,
            sent=sent,
            deadline=deadline,
            lost=attempt.lost,
            stopping=attempt.stopping,
            clock=self.clock,
            threads=self.threads,
        )
        with self.shutdown.tells(attempt.stopping):
            try:
                with renewal:
                    result = _call(job, attempt)
            except GiveUp as error:
                _log.error("The job gave up.", error=error)
                return self._finish(renewal, Status.FAILED, reason_of(error), deadline)
            except OutcomeUnknown as error:
                _log.error("The outcome is unknown.", event="outcome_unknown", error=error)
                self._release(renewal.claim, settle=SETTLE)
                why = f"the outcome of the job is unknown: {words_of(error)}".removesuffix(": ")
                return outcome.Failed(claim.run.run_id, why)
            except ClaimLost:
                lost = self._release(renewal.claim)
                return _lost(claim, lost.record if lost else None)
            except BaseException as error:
                _log.error("The job failed.", event="failed", error=error)
                self._release(renewal.claim)
                return outcome.Failed(claim.run.run_id, f"the job raised {_kind(error)}")
            _log.debug("The job has returned.", event="returned")
            return self._finish(renewal, Status.COMPLETED, result, deadline)

    def _finish(self, renewal: Renewal, status: Status, result: object, deadline: float) -> Outcome:
        """Make the record final; the store decides whether the claim still stands (R20-R25)."""
        claim = renewal.claim
        kept = kept_of(result)
        told = json.loads(kept) if kept else None
        left = min(renewal.left(), deadline - self.clock.monotonic())
        try:
            lost = self.store.finish(claim, status, kept, timeout=max(left, FINISH_TIMEOUT))
        except StoreError as error:
            _log.error(
                "The work was done, but its record was not written: the run will be done again"
                " unless the job recognises it by attempt.recovered or its tokens.",
                event="failed",
                error=error,
            )
            return outcome.Failed(
                claim.run.run_id, f"the work was done, but its record was not written: {error}"
            )
        if lost:
            return _lost(claim, lost.record)
        if status is Status.FAILED:
            _log.error("The run has failed for good.", event="gave_up")
            return outcome.GaveUp(claim.run.run_id, kept_reason(told))
        _log.info("The run is completed.", event="completed")
        return outcome.Processed(claim.run.run_id, told)

    def _release(self, claim: Claim, settle: float | None = None) -> Lost | None:
        """Give the claim up; a store that fails leaves it to the end of its lease (R21, R22)."""
        try:
            lost = self.store.release(claim, settle=_settle(claim, settle), timeout=RELEASE_TIMEOUT)
        except StoreError as error:
            _log.warning("The claim was not released; it ends with its lease.", error=error)
            return None
        if lost:
            _log.info("There was no claim to release any more.", event="lost")
        else:
            _log.info("The claim is released.", event="released")
        return lost

    def _claim_run(self, run: Run, attempt_id: str, timeout: float) -> ClaimAnswer:
        bind(run_id=run.run_id, attempt_id=attempt_id)
        return self.store.claim(run, attempt_id, self.terms, timeout=timeout)

    def _run_of(self, identity: Identity, payload: Payload, now: datetime) -> Run:
        run = identity.run(self.service, now, separate_forced_runs=self.separate_forced_runs)
        if not self.compares_payload:
            return run
        return replace(run, payload_sha256=hashlib.sha256(payload.body).hexdigest())

    def _attempt(self, claim: Claim, payload: Payload, deadline: float) -> StepAttempt:
        run = claim.run
        left = deadline - self.clock.monotonic()
        of_any: dict[str, Any] = {
            "run_id": run.run_id,
            "attempt_id": claim.attempt_id,
            "job_name": run.job_name,
            "project": run.project,
            "location": run.location,
            "recovered": claim.recovered,
            "fence": claim.fence,
            "deadline": self.clock.now() + timedelta(seconds=left),
            "body": payload.body,
            "headers": payload.headers,
        }
        if run.schedule_time is None:
            return StepAttempt(**of_any)
        return Attempt(schedule_time=run.schedule_time, forced=run.forced, **of_any)


def _call(job: Job, attempt: StepAttempt) -> object:
    result = job(attempt)
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise TypeError("run is a generator, of which nothing has run: let it return, not yield")
    if not inspect.isawaitable(result):
        return result
    # Thirty modules, which a cold start does without.
    import asyncio

    return asyncio.run(_awaited(result))


async def _awaited(result: Awaitable[JobResult]) -> JobResult:
    return await result


def _kind(error: BaseException) -> str:
    try:
        return type(error).__name__
    except Exception:
        return "an exception without a name"


def _settle(claim: Claim, settle: float | None) -> float | None:
    """Keep the record of a recovered attempt: the next one has to know that it takes over (R21)."""
    return 0.0 if settle is None and claim.recovered else settle


def _closed(record: Record) -> Outcome:
    """Answer a delivery whose run has ended (R11, R23)."""
    if record.status is Status.FAILED:
        _log.info("The run failed for good before.", event="gave_up")
        return outcome.GaveUp(record.run_id, kept_reason(record.result))
    _log.info("The run is completed already.", event="duplicate")
    return outcome.Duplicate(record.run_id, record.result)


def _mismatch() -> Outcome:
    """Answer a request whose key is another one's: it must not be sent again as it is."""
    reason = "Another payload came with this key before; a new request needs a new key."
    _log.warning(f"A request was refused: {reason}", event="rejected", status=422)
    return outcome.Rejected(422, reason)


def _lost(claim: Claim, record: Record | None) -> Outcome:
    """Answer for an attempt whose claim is gone; 200 only if another one ended the run (R24)."""
    _log.warning("The claim was lost.", event="lost")
    if record is None or record.status is None:
        return outcome.Lost(claim.run.run_id, None)
    if record.status is Status.IN_PROGRESS:
        return outcome.Lost(claim.run.run_id, record.lease_left())
    return _closed(record)
