"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta

from app.dedup.clock import Clock

NOON = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)


class FakeClock:
    """Wall and monotonic time of one instance. Sleeping moves both."""

    def __init__(self, now: datetime = NOON) -> None:
        self.wall = now
        self.ticks = 1000.0

    def advance(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.ticks += seconds

    @property
    def clock(self) -> Clock:
        return self.skewed(timedelta())

    def skewed(self, skew: timedelta) -> Clock:
        """Return the clock of an instance whose wall clock is wrong by `skew`."""
        return Clock(lambda: self.wall + skew, lambda: self.ticks, self.advance)
