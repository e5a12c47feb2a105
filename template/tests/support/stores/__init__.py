"""The stores of this project under test: one harness each, found by the module that is here."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime, timedelta

from app.dedup.clock import Clock
from app.dedup.store import Store
from tests.support.faults import Faults

RawFields = Mapping[str, object]


class Harness(ABC):
    """A store, and what a test needs to look behind it.

    `faults` applies to the calls of all stores that the harness opens. `codes` are the statuses
    that an unclear answer can have; without any, calls cannot get lost. `moves_time`: the store's
    clock obeys the test.
    """

    name: str
    codes: tuple[str, ...] = ()
    moves_time: bool = False

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
