"""Ways to do a run once that are compared with each other, each behind the same four methods."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from benchmarks.calls import Counting

SCHEDULE_TIME: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""The scheduled time of all runs, which differ in the name of their job."""

LEASE: Final = 60.0
"""Seconds of each claim."""

RETENTION: Final = 48 * 3600.0
"""Seconds for which a record is kept."""


class Side(Protocol):
    """A way to claim runs and to finish them. `name` is a run's job."""

    def claim(self, name: str) -> Any | None:
        """Claim a run; None if it is done, or another's."""

    def finish(self, claim: Any) -> None:
        """Record that the run is done."""

    def release(self, claim: Any) -> None:
        """Give the run up, so that the next delivery can claim it."""

    def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True)
class Pair:
    """A side, and the same with its calls counted, on records of their own.

    Times are taken without counting, which costs some time itself.
    """

    title: str
    timed: Side
    counted: Side
    counting: Counting

    def calls(self) -> AbstractContextManager[dict[str, int]]:
        """Count the calls of `counted` while the context lasts."""
        return self.counting()

    def close(self) -> None:
        """Close both."""
        self.timed.close()
        self.counted.close()
