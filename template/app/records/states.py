"""What a record says about its run, for people."""

import math
from datetime import datetime
from enum import StrEnum
from typing import Final

from app import kinds
from app.dedup.delivery import Instant, Trigger
from app.dedup.record import Record, Status
from app.records.report import plain, seconds


class State(StrEnum):
    """The state of a run: its record's status, with the lease taken into account."""

    RUNNING = "running"
    """An attempt holds a live lease, or one that nothing says the end of (R17)."""
    STUCK = "stuck"
    """The lease is over: the next delivery takes the run over, if there is one."""
    COMPLETED = "completed"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    """The status is unknown, so that nothing is done about the run (R17)."""

    @classmethod
    def of(cls, record: Record) -> "State":
        """Return the state at the time when the record was read, by the store's clock."""
        match record.status:
            case Status.COMPLETED:
                return cls.COMPLETED
            case Status.FAILED:
                return cls.FAILED
            case Status.IN_PROGRESS:
                return cls.RUNNING if record.lease_left() > 0 else cls.STUCK
            case None:
                return cls.UNREADABLE

    @property
    def final(self) -> bool:
        """Whether the run has ended (R11, R23)."""
        return self in (State.COMPLETED, State.FAILED)


def trigger_of(record: Record) -> Trigger:
    """Return what made Cloud Scheduler send the run, as far as the record says."""
    return Trigger.FORCED if record.forced else Trigger.SCHEDULED


def asked_by(record: Record) -> str | None:
    """Return what asked for the run: what made Cloud Scheduler send it, or what its key is of.

    None where only the key could tell, and it is a digest.
    """
    if record.schedule_time is None:
        return kinds.trait("TRIGGER") or None
    return trigger_of(record).value


def time_of(record: Record) -> datetime | None:
    """Return the time that a run is listed by; without a schedule, it is that of its claim."""
    claimed = record.claimed_at if kinds.trait("KEY_HEADER") else None
    return record.schedule_time or claimed


RELEASED: Final = "released-"
"""How the attempt id of a released run begins."""


def by_hand(record: Record) -> str:
    """Return what to do about what has a run's key and is no record."""
    return f"what has the key {record.run_id} is no record: look at it, and delete it by hand"


def name_of(record: Record) -> str:
    """Return what to call a run in a sentence."""
    if record.job_name is None or record.schedule_time is None:
        return f"run {record.run_id}"
    time = Instant.of(record.schedule_time).text
    return f"the {trigger_of(record)} run of {plain(record.job_name)} at {time}"


def lease_left(record: Record) -> float | None:
    """Return the seconds of lease left, or None without a lease or without its end."""
    if record.status is not Status.IN_PROGRESS or math.isinf(record.lease_left()):
        return None
    return round(record.lease_left(), 3)


def lease_of(record: Record) -> str:
    """Return how long a running attempt may still be left alone."""
    left = lease_left(record)
    return "nothing says when its lease ends" if left is None else f"{seconds(left)} of lease left"
