"""The choices that make one schedule, and the order in which all schedules are gone through."""

from typing import Self

Choices = tuple[int, ...]
"""What was chosen, each time of several things by its number."""


class Path:
    """One schedule's choices: first those that are given, then always the first."""

    def __init__(self, given: Choices = ()) -> None:
        self._taken = [*given]
        self._widths: list[int] = []

    @property
    def taken(self) -> Choices:
        """Return the choices so far."""
        return tuple(self._taken[: len(self._widths)])

    def choose(self, width: int) -> int:
        """Return which of so many things it is, from 0."""
        depth = len(self._widths)
        self._widths.append(width)
        if depth == len(self._taken):
            self._taken.append(0)
        return self._taken[depth]

    def cut(self, depth: int) -> None:
        """Forget all choices but the first."""
        del self._widths[depth:]

    def next(self, kept: int = 0) -> Self | None:
        """Return the path after this one that begins with the same `kept` choices, if any."""
        taken = self.taken
        for depth in reversed(range(kept, len(taken))):
            if taken[depth] + 1 < self._widths[depth]:
                return type(self)((*taken[:depth], taken[depth] + 1))
        return None
