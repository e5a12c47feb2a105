"""One schedule that can be played, and how it ended."""

from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from proof.world import Teller


class Schedule(Protocol):
    """All that decides a schedule: to play it again is to see the same again."""

    @property
    def command(self) -> str:
        """Return the command that tells its story."""

    def play(self, tell: Teller | None = None) -> "Verdict":
        """Play it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a schedule ended.

    Attributes:
        violation: The first promise that was broken, None if none was.
        counts: How often what has happened in it.
        seconds: How long it took, in simulated time.
    """

    schedule: Schedule
    violation: str | None
    counts: Counter[str]
    seconds: float
