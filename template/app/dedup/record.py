"""The record of one run, read tolerantly, and the one decision about it (R10-R17)."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Final

from app.dedup.delivery import Instant

Fields = Mapping[str, object]
"""A record's fields by name, as design and stores spell them."""

FIELDS: Final = (
    "status",
    "attempt_id",
    "lease_seconds",
    "lease_expires",
    "expire_at",
    "job_name",
    "schedule_time",
    "project",
    "location",
    "forced",
    "claimed_at",
    "finished_at",
    "result",
    "payload_sha256",
)
"""Names of a record's fields. `run_id` is its key."""

ORPHAN_LEASE: Final = 3600.0
"""Seconds for which an `in_progress` record without a usable lease counts as alive (R17)."""

RESULT_LIMIT: Final = 1024
"""Largest result that is kept, in bytes of compact JSON (R20)."""

_LONGEST_LEASE: Final = 10.0**9
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


NO_RECORD: Final = object()
"""Version of what has a run's key and is no record at all, so that only a person can delete it."""


class Status(StrEnum):
    """What a record says about its run. The two final ones never change again."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a write leaves behind: `version` for the next condition, the store's time `at`.

    `fence` rises with every write of the store's clock. `at` is None where a person's record
    hides when it was written.
    """

    version: object
    at: datetime | None
    fence: int


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it stands in the store, with whatever is odd about it read as None (R17).

    Attributes:
        run_id: Key of the record (R08).
        status: What the record says about its run; None where it is missing or unknown.
        attempt_id: Random id of the attempt that has, or had, the claim.
        lease_seconds: So long the claim lives after the store's time of the last write (R16).
        lease_expires: When that is, for people; it counts only where `lease_seconds` is missing.
        expire_at: From when on the store may delete the record (R29).
        job_name: JOB_ID of the job, or the key that came with the request of a step.
        schedule_time: Scheduled time of the run; none where no schedule made it.
        project: Project of the job, `""` without a job scope (R05).
        location: Location of the job, `""` without a job scope.
        forced: Whether it is a forced run (R06).
        claimed_at: The store's time, as far as known, of the last claim; for people.
        finished_at: The same of the end, whether completed or failed for good; for people.
        result: JSON object that the job returned, 1024 bytes at most, or the reason to give up.
        payload_sha256: Digest of a step's request body, to refuse another body with the same key.
        stamp: The store's own time and version of the last write.
        read_at: The store's time of the read.
    """

    run_id: str
    status: Status | None
    attempt_id: str | None
    lease_seconds: float | None
    lease_expires: datetime | None
    expire_at: datetime | None
    job_name: str | None
    schedule_time: datetime | None
    project: str | None
    location: str | None
    forced: bool | None
    claimed_at: datetime | None
    finished_at: datetime | None
    result: dict[str, object] | None
    payload_sha256: str | None
    stamp: Stamp
    read_at: datetime

    @classmethod
    def parse(cls, run_id: str, fields: Fields, stamp: Stamp, read_at: datetime) -> "Record":
        """Read `fields`, whoever wrote them. Never raises."""
        return cls(
            run_id=run_id,
            status=_status(fields.get("status")),
            attempt_id=_text(fields.get("attempt_id")),
            lease_seconds=_lease(fields.get("lease_seconds")),
            lease_expires=_moment(fields.get("lease_expires")),
            expire_at=_moment(fields.get("expire_at")),
            job_name=_text(fields.get("job_name")),
            schedule_time=_moment(fields.get("schedule_time")),
            project=_text(fields.get("project")),
            location=_text(fields.get("location")),
            forced=_flag(fields.get("forced")),
            claimed_at=_moment(fields.get("claimed_at")),
            finished_at=_moment(fields.get("finished_at")),
            result=_result(fields.get("result")),
            payload_sha256=_text(fields.get("payload_sha256")),
            stamp=stamp,
            read_at=read_at,
        )

    def lease_left(self) -> float:
        """Return the seconds of lease left at the read, by the store's clock (R16, R17).

        Infinite where nothing says when the lease began or ends.
        """
        if self.stamp.at is not None and self.lease_seconds is not None:
            return self.lease_seconds - (self.read_at - self.stamp.at).total_seconds()
        if self.lease_expires is not None:
            return (self.lease_expires - self.read_at).total_seconds()
        if self.stamp.at is not None:
            return ORPHAN_LEASE - (self.read_at - self.stamp.at).total_seconds()
        return math.inf

    @property
    def is_none(self) -> bool:
        """Whether something else has the key of a record; no store deletes that."""
        return self.stamp.version is NO_RECORD

    def held_by(self, attempt_id: str) -> bool:
        """Tell whether this is the live claim of `attempt_id` (R15)."""
        return self.status is Status.IN_PROGRESS and self.attempt_id == attempt_id


class Decision(Enum):
    """What a claim does about the record that it finds."""

    OWN = auto()
    """It is this attempt's own claim, whose answer was lost (R15)."""
    WAIT = auto()
    """Another attempt holds a live lease (R12)."""
    TAKE_OVER = auto()
    """The lease is over (R13)."""
    FINAL = auto()
    """The run is completed or failed for good (R11, R23)."""
    REFUSE = auto()
    """The status is unknown: fail closed (R17)."""
    MISMATCH = auto()
    """The record is another request's: same key, other payload."""


def decide(record: Record, attempt_id: str, payload_sha256: str | None = None) -> Decision:
    """Decide what a claim by `attempt_id` does about `record`. Pure; the same on every store."""
    if record.status is not None and _differ(record.payload_sha256, payload_sha256):
        return Decision.MISMATCH
    match record.status:
        case Status.COMPLETED | Status.FAILED:
            return Decision.FINAL
        case Status.IN_PROGRESS if record.attempt_id == attempt_id:
            return Decision.OWN
        case Status.IN_PROGRESS:
            return Decision.WAIT if record.lease_left() > 0 else Decision.TAKE_OVER
        case None:
            return Decision.REFUSE


def later(moment: datetime, seconds: float) -> datetime:
    """Return `moment` plus `seconds`, or the last moment that a datetime can hold, or the first."""
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return _LAST if seconds > 0 else _FIRST


def _differ(kept: str | None, sent: str | None) -> bool:
    # A record that another version or a person wrote may not say which payload it is about.
    return None not in (kept, sent) and kept != sent


def _status(value: object) -> Status | None:
    return Status(value) if isinstance(value, str) and value in set(Status) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    # SQLite has no booleans of its own.
    return bool(value) if value in (True, False) else None


def _lease(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LONGEST_LEASE else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            return Instant.parse(value).moment
        except ValueError:
            return None
    if isinstance(value, datetime):
        try:
            return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        except OverflowError:
            return None
    return None


def _result(value: object) -> dict[str, object] | None:
    """Keep what can be shown to a duplicate: a JSON object as small as those that are kept."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
        size = len(json.dumps(found, ensure_ascii=False, allow_nan=False).encode())
    # Also UnicodeEncodeError, for half a surrogate pair.
    except (TypeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and size <= 2 * RESULT_LIMIT else None
