"""Many schedules, played by several processes."""

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final, TypeVar

from proof.exhaustive import Chosen
from proof.figures import Figures
from proof.schedule import Seed
from proof.story import untold

CHUNK: Final = 500
"""Schedules between two looks at the clock."""

_YOUNG: Final = 3_000
"""Objects between two collections of garbage: those of some schedules, still in the CPU's cache."""

_DEPTH: Final = 4
_REPORTS: Final = 60.0

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Crowd:
    """So many processes, which stop after so many minutes and with the first broken promise.

    `progress` is told now and then how far they are.
    """

    workers: int
    minutes: float
    progress: Callable[[str], object]

    def simulate(self, seeds: range) -> Figures:
        """Play the schedules of these seeds."""
        starts = range(seeds.start, seeds.stop, CHUNK)
        parts = [range(start, min(start + CHUNK, seeds.stop)) for start in starts]
        return self._sum(_simulated, parts)

    def enumerate(self, cases: Iterable[Chosen]) -> Figures:
        """Play every schedule of these cases."""
        with untold():
            parts = [part for case in cases for part in case.parts(_DEPTH)]
        return self._sum(_enumerated, parts)

    def _sum(self, play: Callable[[_Part], Figures], parts: Iterable[_Part]) -> Figures:
        figures, begun, told = Figures(), time.monotonic(), 0.0
        for part in _played(play, parts, self.workers):
            figures.merge(part)
            elapsed = time.monotonic() - begun
            if elapsed - told > _REPORTS:
                told = elapsed
                self.progress(f"{figures.schedules:,} schedules in {elapsed:,.0f} s")
            if figures.broken or elapsed > self.minutes * 60:
                break
        self.progress(f"{figures.schedules:,} schedules in {time.monotonic() - begun:,.0f} s")
        return figures


def _played(
    play: Callable[[_Part], Figures], parts: Iterable[_Part], workers: int
) -> Iterator[Figures]:
    if workers == 1:
        yield from map(play, parts)
        return
    # A forked process has all modules, and nothing of a schedule yet. What is there is not looked
    # through with the garbage of each part.
    gc.collect()
    gc.freeze()
    with get_context("fork").Pool(workers, gc.set_threshold, (_YOUNG, 1000, 1000)) as pool:
        yield from pool.imap_unordered(play, parts)


def _enumerated(part: Chosen) -> Figures:
    figures = Figures()
    with untold():
        for verdict in part.all():
            figures.add(verdict)
    return figures


def _simulated(seeds: range) -> Figures:
    figures = Figures()
    with untold():
        for seed in seeds:
            figures.add(Seed(seed).play())
            if figures.broken:
                break
    return figures
