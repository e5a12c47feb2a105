"""Renewal of a claim's lease, in a thread of its own (R18, R19)."""

import contextvars
import threading
from functools import partial
from types import TracebackType
from typing import Final, Self

from app.dedup.clock import Clock
from app.dedup.store import Claim, Lost, Store
from app.dedup.stores.budget import CALL_TIMEOUT
from app.dedup.threads import SYSTEM_THREADS, Thread, Threads
from app.logs import Log

_RETRIES_PER_LEASE: Final = 10
_LONGEST_JOIN: Final = 1.0

_log = Log(__name__)


class Renewal:
    """Renews a claim while its context is entered; `claim` is what was last confirmed.

    Renewal ends when the claim is lost and at `deadline` (monotonic seconds), where `stopping` is
    set. `lost` is set when another attempt has the claim, and when a lease has passed since the
    last confirmed renewal was *sent*, which is earlier than the store counts it.
    """

    def __init__(
        self,
        store: Store,
        claim: Claim,
        *,
        sent: float,
        deadline: float,
        lost: threading.Event,
        stopping: threading.Event,
        clock: Clock,
        threads: Threads = SYSTEM_THREADS,
    ) -> None:
        self.claim = claim
        self._store = store
        self._deadline = deadline
        self._lost = lost
        self._stopping = stopping
        self._clock = clock
        self._lease = claim.terms.lease
        self._confirmed = sent
        self._due = sent + claim.terms.period
        self._threads = threads
        self._done = threads.event()
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        # Its log lines have the fields of the request's.
        loop = partial(contextvars.copy_context().run, self._loop)
        self._thread = self._threads.start("lease", loop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A renewal that hangs is not waited for: the next write meets its version and reads it.
        self._done.set()
        if self._thread is not None:
            self._thread.join(_LONGEST_JOIN)

    def left(self) -> float:
        """Return the seconds of lease that are certainly left."""
        return self._confirmed + self._lease - self._clock.monotonic()

    def beat(self) -> float | None:
        """Do what is due; return the seconds until the next beat, None if there is none."""
        now = self._clock.monotonic()
        if self.left() <= 0 and not self._lost.is_set():
            _log.warning("The lease could not be confirmed in time.", event="lost")
            self._lost.set()
        if now >= self._deadline:
            # The work may go on; what is left of its lease is not renewed.
            self._stopping.set()
            return None if self._lost.is_set() else self.left()
        if now >= self._due and not self._renew(now):
            return None
        moments = [self._due, self._deadline]
        if not self._lost.is_set():
            moments.append(self._confirmed + self._lease)
        return max(0.0, min(moments) - self._clock.monotonic())

    def _renew(self, sent: float) -> bool:
        """Renew once; False if the claim is gone."""
        left = self.left()
        try:
            answer = self._store.renew(
                self.claim, timeout=min(left, CALL_TIMEOUT) if left > 0 else CALL_TIMEOUT
            )
        # Whatever goes wrong is a renewal that failed: this thread ends for no other reason.
        except Exception as error:
            _log.warning("The lease was not renewed.", error=error)
            self._due = self._clock.monotonic() + self._lease / _RETRIES_PER_LEASE
            return True
        if isinstance(answer, Lost):
            _log.warning("Another attempt has the claim.", event="lost")
            self._lost.set()
            return False
        self.claim = answer
        self._confirmed = sent
        self._due = sent + self.claim.terms.period
        return True

    def _loop(self) -> None:
        wait: float | None = 0.0
        while wait is not None and not self._done.wait(wait):
            wait = self.beat()
