"""What the job's code sees of its run, and what it may raise."""

import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.dedup.delivery import step_token


class GiveUp(Exception):
    """Raise it to say that no retry can help: the run becomes `failed`, for good (R23)."""


class OutcomeUnknown(Exception):
    """Raise it when nobody can tell whether the work took effect (R22).

    The next attempt comes as `recovered` after a settle time and can look before it acts.
    """


class ClaimLost(Exception):
    """Another attempt has the run now; stop, and leave the rest to it (R19)."""


class Stopping(Exception):
    """The instance shuts down or the request's time is over; stop, a retry follows (R27)."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StepAttempt:
    """One attempt at a run that no schedule made, as the job gets it.

    Attributes:
        run_id: Key of the run, 64 hex digits; the idempotency token for everything that this run
            does once as a whole (R08, R09).
        attempt_id: Random, different in each attempt.
        job_name: What names the run: the key that came with the request.
        deadline: When the request's time is over, by this instance's clock: aware, UTC.
        project: Project of the caller, or `""` without a job scope (R05).
        location: Location of the caller, or `""` without a job scope.
        recovered: True if an earlier attempt may have done part of the work (R13).
        fence: Rises with every claim of a run, by the store's clock. A downstream system that
            remembers the highest one it has seen can refuse a late attempt.
        body: The request's body.
        headers: The request's headers by lower-case name, without its tokens; the values of
            a repeated one are joined by `, `.
        lost: Set when the claim is lost, or cannot be confirmed any more (R19).
        stopping: Set when the instance shuts down, and when the request's time is over (R18, R27).
    """

    run_id: str
    attempt_id: str
    job_name: str
    deadline: datetime
    project: str = ""
    location: str = ""
    recovered: bool = False
    fence: int = 1
    body: bytes = field(default=b"", repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    lost: threading.Event = field(default_factory=threading.Event, repr=False)
    stopping: threading.Event = field(default_factory=threading.Event, repr=False)

    def check(self) -> None:
        """Raise if it is time to stop; call it between the steps of long work.

        Raises:
            ClaimLost: another attempt may have the run.
            Stopping: the instance shuts down or the request's time is over.
        """
        if self.lost.is_set():
            raise ClaimLost("the claim of this run is lost")
        if self.stopping.is_set():
            raise Stopping("this attempt has to stop")

    def token(self, step: str) -> str:
        """Return the idempotency token of one step: 64 hex digits, equal in each attempt (R09)."""
        return step_token(self.run_id, step)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Attempt(StepAttempt):
    """One attempt at a run of a Cloud Scheduler job, as the job gets it.

    It has all that a `StepAttempt` has; `job_name` is the short JOB_ID of the job.

    Attributes:
        schedule_time: Scheduled time of the run: aware, UTC, cut to microseconds.
        forced: True for a forced run ahead of its schedule time (R06).
    """

    schedule_time: datetime
    forced: bool = False


JobResult = dict[str, Any] | None
"""What a job returns: a small JSON object to keep, or nothing (R20)."""
