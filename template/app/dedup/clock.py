"""The clocks of one instance, passed in wherever time matters so that tests own it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` is the wall clock (aware, UTC), `monotonic` counts seconds, `sleep` takes seconds.

    Durations are measured with `monotonic` only. `now` may be wrong by a day: whatever decides
    about a lease or a key is checked against the store's clock (R06, R16).
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]


SYSTEM_CLOCK: Final = Clock(lambda: datetime.now(UTC), time.monotonic, time.sleep)
"""The clocks of this machine."""
