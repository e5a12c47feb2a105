"""How a call of the store travels, and the ways in which that can go wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol

from proof.world import Machine, Wait, present


class NoAnswer(Exception):
    """Nobody knows whether the call has happened."""


class Refusal(Exception):
    """The store says that it does not do it."""


class Fate(StrEnum):
    """What becomes of a call."""

    FINE = "fine"
    LOST_REQUEST = "lost request"
    LOST_ANSWER = "lost answer"
    LATE = "late request"
    """It reaches the store when its sender has stopped waiting for it."""
    REFUSED = "refusal"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the store.

    Attributes:
        what: In words.
        writes: Whether it can change anything.
        limit: After so many seconds its sender stops waiting.
        apply: What the store does when it arrives, and what it then answers; it is told whether
            that is going to be heard.
    """

    what: str
    writes: bool
    limit: float
    apply: Callable[[bool], object]


class Network(Protocol):
    """What is between instances and store."""

    def carry(self, machine: Machine, call: Call) -> object:
        """Return what the store answers to a call of the present process.

        Raises:
            NoAnswer: none came.
            Refusal: the store refuses.
        """


@dataclass(frozen=True, slots=True)
class Answer:
    """What the store answers."""

    value: object


class Parcel:
    """A call under way. Each step of it is an event of the world, or part of one."""

    def __init__(self, machine: Machine, call: Call) -> None:
        self.machine = machine
        self.call = call
        self.errand = present().errand
        self.ends = machine.world.now + call.limit
        self._wait = Wait(machine)

    def arrive(self, back: float | None) -> None:
        """Let the store do it, and answer after so many seconds; None: its answer is lost."""
        answer = Answer(self.call.apply(back is not None))
        if back is not None:
            self.machine.world.after(back, partial(self._wait.end, answer))

    def refuse(self) -> None:
        """Let the store refuse it."""
        self._wait.end(Refusal("injected: refused"))

    def fail(self) -> None:
        """Let the sender notice that there is no answer."""
        self._wait.end(NoAnswer("injected: no answer"))

    def wait(self) -> object:
        """Let the sender wait for what becomes of it."""
        end = self._wait.value()
        if isinstance(end, Answer):
            return end.value
        assert isinstance(end, Exception)  # noqa: S101 a call ends in no other way
        raise end

    def tell(self, what: str) -> None:
        """Add to the story."""
        world = self.machine.world
        if world.tell:
            world.tell(world.now, self.machine.name, what)
