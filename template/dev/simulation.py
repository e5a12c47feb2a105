"""The life of each run: an attempt, and retries as Cloud Scheduler makes them."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.backoff import RetryConfig, next_gap
from dev.attempt import Attempts, Reply
from dev.delivery import Answer
from dev.kinds import Surroundings
from dev.plan import Fault, PlannedRun
from dev.timeline import Timeline


@dataclass(frozen=True)
class RunResult:
    """What became of a planned run: all replies, and the faults that found no moment to strike."""

    planned: PlannedRun
    replies: tuple[Reply, ...]
    missed: tuple[Fault, ...]


class Simulation:
    """Plays runs one after the other."""

    def __init__(
        self, attempts: Attempts, around: Surroundings, retry: RetryConfig, timeline: Timeline
    ) -> None:
        self._attempts = attempts
        self._around = around
        self._retry = retry
        self._timeline = timeline

    def play(self, number: int, planned: PlannedRun) -> RunResult:
        """Play one run until an attempt succeeds or the retries are over."""
        self._wait_until(planned.due)
        self._timeline.begin(number, planned)
        started = time.monotonic()
        replies: list[Reply] = []
        faults = list(planned.faults)
        copies, retry = planned.copies, 0
        if planned.trouble:
            self._around.expect(planned.trouble)
        while True:
            latest, struck = self._attempts.make(planned, copies, faults[0] if faults else None)
            replies += latest
            faults = faults[1:] if struck else faults
            if all(isinstance(reply, Answer) and reply.success for reply in latest):
                break
            copies, retry = 1, retry + 1
            if not self._wait_for_retry(planned.until, retry, time.monotonic() - started):
                break
        return RunResult(planned, tuple(replies), tuple(faults))

    def _wait_until(self, due: datetime | None) -> None:
        seconds = (due - datetime.now(UTC)).total_seconds() if due else 0.0
        if due and seconds > 0:
            self._timeline.waiting(due, seconds)
            time.sleep(seconds)

    def _wait_for_retry(self, until: datetime | None, retry: int, elapsed: float) -> bool:
        seconds = next_gap(self._retry, retry, elapsed)
        now = datetime.now(UTC)
        if seconds is None or (until and now + timedelta(seconds=seconds) >= until):
            self._timeline.gave_up()
            return False
        time.sleep(seconds)
        self._timeline.retry(retry, seconds)
        return True
