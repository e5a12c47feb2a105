"""Faults that happen to a store's calls, in the order in which the calls are made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto


class Kind(Enum):
    """What goes wrong with a call."""

    NONE = auto()
    LOST_REQUEST = auto()
    """The call never reaches the store."""
    LOST_ANSWER = auto()
    """The store does what it was asked, and nobody hears of it."""
    REFUSED = auto()
    """The store says that it does not do it."""


@dataclass
class Faults:
    """The plan for the next calls, and a log of all calls.

    An entry of the plan can have a code of its own, which stays, or be a function: what others do
    just before the call.
    """

    plan: list[Kind | tuple[Kind, str] | Callable[[], object]] = field(default_factory=list)
    code: str = "UNAVAILABLE"
    calls: list[str] = field(default_factory=list)

    def next(self, call: str) -> Kind:
        """Note a call and return what goes wrong with it."""
        self.calls.append(call)
        step = self.plan.pop(0) if self.plan else Kind.NONE
        if isinstance(step, tuple):
            step, self.code = step
        if isinstance(step, Kind):
            return step
        # What others do has no faults and does not count.
        rest, self.plan = self.plan, []
        before = list(self.calls)
        step()
        self.plan, self.calls[:] = rest, before
        return Kind.NONE
