"""A handler needs nothing around it."""

from collections.abc import Iterator
from contextlib import contextmanager

from dev.kinds import Surroundings


@contextmanager
def surroundings() -> Iterator[Surroundings]:
    """Provide nothing."""
    yield Surroundings()
