"""When Cloud Scheduler retries a failed run: its back-off arithmetic, as a pure function."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LINEAR_STEP_SECONDS: Final = 2.0
"""What each gap adds to the one before it once the doublings are used up.

Recorded in production: 2, 4, 8, 16, 18 s (2 s, three doublings) and 4, 8, 10, 12 s (4 s, one
doubling). The reference documents a larger step, `min_backoff * 2 ** max_doublings`. Smaller gaps
end the retries earlier, so to plan with the recorded step is also the careful choice.
"""


@dataclass(frozen=True, slots=True)
class RetryConfig:
    """A job's `retryConfig`. Durations are in seconds; the defaults are Cloud Scheduler's.

    As in Cloud Scheduler, a zero back-off or number of doublings stands for its default, and a
    zero `max_retry_duration` for no limit.

    Raises:
        ValueError: a value that Cloud Scheduler refuses.
    """

    retry_count: int = 0
    min_backoff: float = 5.0
    max_backoff: float = 3600.0
    max_doublings: int = 5
    max_retry_duration: float = 0.0

    def __post_init__(self) -> None:
        """Check the ranges and put the defaults in for zeros."""
        if not 0 <= self.retry_count <= 5:
            raise ValueError(f"retry count must be 0 to 5, not {self.retry_count}")
        for name in ("min_backoff", "max_backoff", "max_doublings", "max_retry_duration"):
            value = getattr(self, name)
            if value < 0:
                raise ValueError(f"{name.replace('_', ' ')} must not be negative, not {value:g}")
        defaults = {"min_backoff": 5.0, "max_backoff": 3600.0, "max_doublings": 5}
        for name, default in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or default)
        if self.min_backoff > self.max_backoff:
            raise ValueError(
                f"min backoff ({self.min_backoff:g} s) is longer than max backoff"
                f" ({self.max_backoff:g} s)"
            )


def gap(config: RetryConfig, retry: int) -> float:
    """Return the seconds between a failure and its `retry`-th retry (the first is 1).

    The gap starts at `min_backoff`, doubles `max_doublings` times, then grows by a constant step,
    and never exceeds `max_backoff`.
    """
    # A hundred doublings of any back-off exceed the longest one.
    doublings = min(retry - 1, config.max_doublings, 100)
    steps = retry - 1 - doublings
    return min(
        config.min_backoff * 2.0**doublings + steps * LINEAR_STEP_SECONDS, config.max_backoff
    )


def next_gap(config: RetryConfig, retry: int, elapsed: float) -> float | None:
    """Return the gap before the `retry`-th retry, or `None` if Cloud Scheduler gives up.

    `elapsed` is the seconds from the start of the first attempt to the failure. With a
    `max_retry_duration`, retries go on until that limit and `retry_count` are *both* reached.
    """
    wait = gap(config, retry)
    count_left = retry <= config.retry_count
    time_left = elapsed + wait <= config.max_retry_duration
    return wait if count_left or time_left else None


def retry_starts(config: RetryConfig, attempt_seconds: float = 0.0) -> Iterator[float]:
    """Yield the start of each retry, in seconds after the start of the first attempt.

    Every attempt is taken to fail after `attempt_seconds`.
    """
    retry, failed_at = 1, attempt_seconds
    while (wait := next_gap(config, retry, failed_at)) is not None:
        yield failed_at + wait
        retry, failed_at = retry + 1, failed_at + wait + attempt_seconds
