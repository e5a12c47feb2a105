"""The stores of this project under test: one harness each, found by the module that is here."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pkgutil import iter_modules
from types import MappingProxyType

import pytest

from app.dedup.clock import Clock
from app.dedup.store import Store
from tests.support.faults import Faults

RawFields = Mapping[str, object]

Hanging = Callable[[], AbstractContextManager[None]]
"""Keeps a store from answering for as long as the context lasts."""

MODULES = [module.name for module in iter_modules(__path__)]
HARNESSES = ["conditional", *MODULES]
"""SQLite needs a stand-in for the calls that a network can lose; it comes first, being quick."""

lossy = pytest.mark.parametrize(
    "harness", [name for name in HARNESSES if name != "sqlite"], indirect=True
)
"""Run a test on the stores that are asked over a network, where calls get lost."""

movable = pytest.mark.parametrize("harness", ["conditional", "sqlite"], indirect=True)
"""Run a test on the stores whose clock obeys the test."""


class Harness(ABC):
    """A store, and what a test needs to look behind it.

    `faults` applies to the calls of all stores that the harness opens. `codes` are some statuses
    that an unclear answer can have. `conflicts` are the statuses that say that the condition of a
    `create` or a `change` did not hold. `takeover_calls` is the number of calls that take over a
    dead lease; the last of them does it.
    """

    name: str
    codes: tuple[str, ...] = ()
    conflicts: Mapping[str, frozenset[str]] = MappingProxyType({})
    takeover_calls: int = 3

    def __init__(self) -> None:
        self.faults = Faults()

    @abstractmethod
    def open(self, skew: timedelta = timedelta()) -> Store:
        """Open the records as another instance would, whose clock is wrong by `skew`."""

    @abstractmethod
    def clock(self, skew: timedelta = timedelta()) -> Clock:
        """Return the clock of an instance, which is wrong by `skew`."""

    @abstractmethod
    def plant(self, run_id: str, fields: RawFields) -> None:
        """Write a record as another version or a person would."""

    @abstractmethod
    def edit(self, run_id: str, fields: RawFields) -> None:
        """Change fields of a record as a person would."""

    @abstractmethod
    def erase(self, run_id: str) -> None:
        """Delete a record as a person would."""

    @abstractmethod
    def raw(self, run_id: str) -> RawFields | None:
        """Return everything that is stored for a run, its version included."""

    @abstractmethod
    def pass_time(self, seconds: float) -> None:
        """Let the store's clock go on."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the store's time, give or take a second."""


class RealTimeHarness(Harness):
    """A store of its own process, whose clock nobody moves."""

    def __init__(self) -> None:
        super().__init__()
        self._waited = 0.0

    def clock(self, skew: timedelta = timedelta()) -> Clock:
        return Clock(
            lambda: datetime.now(UTC) + skew,
            lambda: time.monotonic() + self._waited,
            self._wait,
        )

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def _wait(self, seconds: float) -> None:
        # Between two tries nothing happens that a test would have to wait for.
        self._waited += seconds
