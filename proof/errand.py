"""One delivery at one instance: what it is for, and what has become of it."""

from dataclasses import dataclass, field
from enum import StrEnum

from proof.world import Machine


class End(StrEnum):
    """How a job ends."""

    RETURNS = "returns"
    RAISES = "raises ValueError"
    EXITS = "raises SystemExit"
    GIVES_UP = "raises GiveUp"
    UNKNOWN = "raises OutcomeUnknown"
    CLAIM_LOST = "raises ClaimLost"
    STOPPING = "raises Stopping"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a job does: sleeps for so many seconds each, then ends like this.

    `obeys`: it asks `attempt.check` after each sleep, and stops if that raises.
    """

    sleeps: tuple[float, ...] = ()
    obeys: bool = True
    end: End = End.RETURNS


@dataclass(frozen=True, slots=True)
class View:
    """A record as the oracle sees it, in the store itself.

    `micros` is the store's time of its last write, in microseconds since the schedule's start;
    the lease that it gave, in seconds, counts from there.
    """

    status: str
    attempt_id: str
    micros: int
    lease: float

    def is_final(self) -> bool:
        """Tell whether the run has ended."""
        return self.status in ("completed", "failed")

    def is_alive(self, now: int) -> bool:
        """Tell whether somebody has the run, at the store's time in microseconds."""
        return not self.is_final() and now < self.micros + round(self.lease * 1e6)


@dataclass(slots=True, eq=False)
class Errand:
    """One delivery at one instance.

    Times are in seconds since the schedule's start.

    Attributes:
        name: For the story.
        due: The schedule time that it bears.
        began: When it reached the instance.
        received: When the instance took note of it.
        attempt_id: The id that its attempt made for itself.
        started: The run whose job it has started.
        fence: That attempt's.
        recovered: That attempt's.
        end: How its job has ended.
        seen: Each record as it was when the request last heard of it, and the store's time then.
        disturbed: Something went wrong with it or its machine.
        answer: What its instance has answered, None as long as it has not.
    """

    name: str
    machine: Machine
    due: float
    plan: Plan
    began: float = 0.0
    received: float = 0.0
    attempt_id: str = ""
    started: str = ""
    fence: int = 0
    recovered: bool = False
    end: End | None = None
    seen: dict[str, tuple[View | None, int]] = field(default_factory=dict)
    disturbed: bool = False
    answer: int | None = None

    def is_undisturbed(self) -> bool:
        """Tell whether it went as if there were no faults and its job ended well."""
        machine = self.machine
        return (
            not self.disturbed
            and machine.alive
            and machine.troubled < self.began
            and self.end in (None, End.RETURNS, End.GIVES_UP)
        )
