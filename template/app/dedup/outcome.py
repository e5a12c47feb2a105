"""How a delivery ends. The service turns each into a status and a JSON body."""

from dataclasses import dataclass

Result = dict[str, object] | None


@dataclass(frozen=True, slots=True)
class Processed:
    """The job ran and the run is completed (R20)."""

    run_id: str
    result: Result


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The run was completed before, or by another attempt (R11, R24)."""

    run_id: str
    result: Result


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The run failed for good, now or before (R23), for the `reason` that the job gave."""

    run_id: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class InProgress:
    """Another attempt is at work; its lease ends in `lease_left` seconds (R12)."""

    run_id: str
    lease_left: float


@dataclass(frozen=True, slots=True)
class Lost:
    """The claim was lost (R24): `lease_left` seconds to another attempt, or None: to nobody."""

    run_id: str
    lease_left: float | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The job failed, its outcome is unknown, or its end could not be recorded (R21, R22, R25)."""

    run_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Nothing was done, because something around the job is not able to work (R25, R27)."""

    reason: str
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """The request is refused with `status`, a 4xx (R04, R05, R33)."""

    status: int
    reason: str


Outcome = Processed | Duplicate | GaveUp | InProgress | Lost | Failed | Unavailable | Rejected
