"""SIGTERM: no new claims, and the attempts at work are told (R27)."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final


class Shutdown:
    """Whether this process is shutting down, and who wants to know."""

    def __init__(self) -> None:
        self._begun = threading.Event()
        self._lock = threading.Lock()
        self._listeners: set[threading.Event] = set()

    @property
    def begun(self) -> bool:
        """True from the signal on."""
        return self._begun.is_set()

    def begin(self) -> None:
        """Refuse new claims and set every listener's event."""
        self._begun.set()
        with self._lock:
            for event in self._listeners:
                event.set()

    @contextmanager
    def tells(self, event: threading.Event) -> Iterator[None]:
        """Set `event` when the shutdown begins, or at once if it has begun."""
        with self._lock:
            self._listeners.add(event)
        if self.begun:
            event.set()
        try:
            yield
        finally:
            with self._lock:
                self._listeners.discard(event)

    def watch(self) -> None:
        """Begin at SIGTERM and then do what the server wanted done. Main thread only.

        Call it when the server has installed its own handler.
        """
        server = signal.getsignal(signal.SIGTERM)

        def on_sigterm(number: int, frame: FrameType | None) -> None:
            # Locks must not be taken in a handler: it may have interrupted their holder.
            threading.Thread(target=self.begin, name="shutdown").start()
            if callable(server):
                server(number, frame)
            elif server is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)

        signal.signal(signal.SIGTERM, on_sigterm)


SHUTDOWN: Final = Shutdown()
"""The shutdown of this process."""
