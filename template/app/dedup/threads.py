"""The threads of one instance, passed in like its clocks so that a simulation owns them."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol


class Thread(Protocol):
    """A function at work beside its starter."""

    def join(self, timeout: float) -> None:
        """Wait until the function has returned, but no longer than `timeout` seconds."""


class Event(Protocol):
    """What one thread waits for and another sets, once."""

    def set(self) -> None:
        """Wake who waits."""

    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds; return whether the event is set."""


@dataclass(frozen=True, slots=True)
class Threads:
    """`start` runs a function in a new thread of that name; `event` makes an event."""

    start: Callable[[str, Callable[[], object]], Thread]
    event: Callable[[], Event]


def _start(name: str, function: Callable[[], object]) -> Thread:
    # A daemon: it keeps no process alive that has nothing else to do.
    thread = threading.Thread(target=function, name=name, daemon=True)
    thread.start()
    return thread


SYSTEM_THREADS: Final = Threads(_start, threading.Event)
"""The threads of this process."""
