"""Timing and statistics: sides take turns, so that a busy machine skews all of them alike."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

_CUTS: Final = 100

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Sample:
    """Durations of one thing, in seconds."""

    seconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        """The median, in milliseconds."""
        return 1000 * statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        """What 99 of 100 stay below, in milliseconds; of few durations, about the longest."""
        if len(self.seconds) < 2:
            return self.p50
        return 1000 * statistics.quantiles(self.seconds, n=_CUTS, method="inclusive")[-1]


def timed(action: Callable[[], object]) -> float:
    """Return how many seconds `action` takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def in_turns(
    sides: Iterable[str], rounds: int, measure: Callable[[str], _T]
) -> dict[str, list[_T]]:
    """Measure each side once per round, in an order that changes from round to round."""
    names = list(sides)
    found: dict[str, list[_T]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(measure(name))
    return found


def sampled(
    sides: Mapping[str, Callable[[], object]], rounds: int, *, warm: bool = True
) -> dict[str, Sample]:
    """Time each side once per round; if `warm`, after one call of each that does not count."""
    for action in sides.values() if warm else ():
        action()
    found = in_turns(sides, rounds, lambda name: timed(sides[name]))
    return {name: Sample(tuple(seconds)) for name, seconds in found.items()}
