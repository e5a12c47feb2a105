"""Run each scheduled run once: what a job needs of it."""

from app.dedup.attempt import (
    Attempt,
    ClaimLost,
    GiveUp,
    JobResult,
    OutcomeUnknown,
    StepAttempt,
    Stopping,
)

__all__ = [
    "Attempt",
    "ClaimLost",
    "GiveUp",
    "JobResult",
    "OutcomeUnknown",
    "StepAttempt",
    "Stopping",
]
