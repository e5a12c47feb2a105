"""How much a store is asked: for how long, how often again, and for how many records at once."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Final, TypeVar

from app.dedup.clock import Clock
from app.dedup.store import StoreError
from app.logs import Log

CALL_TIMEOUT: Final = 3.0
"""Seconds for one call of the store (R26)."""

PAGE: Final = 300
"""Records for one call of the store, few enough for its time limit."""

_SHORTEST_CALL: Final = 1.0
_LEAST_TRIES: Final = 2
_QUICK_TRIES: Final = 4
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0

_Answer = TypeVar("_Answer")

_log = Log(__name__)


class Budget:
    """The time of one operation, and the pauses between its tries."""

    def __init__(self, clock: Clock, timeout: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + timeout
        self._pause = _FIRST_PAUSE

    def __iter__(self) -> Iterator[int]:
        """Yield the number of each try: two at least, then as many as the time allows.

        Even where the process stood still until its time was over, what is unclear is read back.
        """
        for number in count():
            if number >= _LEAST_TRIES and self.left() <= 0:
                return
            if number >= _QUICK_TRIES:
                self.pause()
            yield number

    def limit(self) -> float:
        """Return the seconds that the next call may take."""
        return max(_SHORTEST_CALL, min(CALL_TIMEOUT, self.left()))

    def pause(self) -> None:
        """Wait a little, longer each time."""
        self._clock.sleep(max(0.0, min(self._pause, self.left())))
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def left(self) -> float:
        """Return the seconds that are left of the operation's time."""
        return self._end - self._clock.monotonic()


def pages(run_ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield keys by as many as are asked for at once."""
    rest = iter(run_ids)
    while page := [*islice(rest, PAGE)]:
        yield page


def insisted(
    clock: Clock, timeout: float, call: Callable[[float, StoreError | None], _Answer]
) -> _Answer:
    """Return what `call` answers, which is made again as long as it fails and there is time (R25).

    A refusal says that nothing was done now, not that it never will be: a server that was full has
    room again, a role comes back. Who has work to record gains nothing by stopping early.
    `call` is given the seconds that are left, and what went wrong the last time.
    """
    budget = Budget(clock, timeout)
    problem: StoreError | None = None
    while True:
        try:
            return call(budget.left(), problem)
        except StoreError as error:
            problem = error
            budget.pause()
            if budget.left() <= 0:
                raise


def resolved(problem: StoreError | None) -> None:
    """Log that a write whose answer was lost has turned out to have happened (R39)."""
    _log.warning(
        "The answer to a write was lost; the record shows that it happened.",
        event="unclear_resolved",
        error=problem,
    )
