"""Gates: files at which a server's threads wait until the test lets them go on."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

PATIENCE: Final = 30.0
"""Seconds after which a test, or a thread at a gate, gives up."""

_PAUSE: Final = 0.01


class NotInTime(Exception):
    """Something that was waited for did not happen."""


def eventually(what: str, holds: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Return as soon as `holds()` does.

    Raises:
        NotInTime: it did not within `patience` seconds.
    """
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise NotInTime(f"not within {patience:g} s: {what}")
        time.sleep(_PAUSE)


class Gates:
    """The gates in one folder, which the test shares with its servers. All are open at first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def close(self, name: str) -> None:
        """Make whoever comes to the gate wait there."""
        self._closed(name).touch()

    def open(self, name: str) -> None:
        """Let those who wait go on."""
        self._closed(name).unlink()

    def go_through(self, name: str) -> None:
        """Wait while the gate is closed. For the server's side."""
        if self._closed(name).exists():
            self._reached(name).touch()
            eventually(f"gate {name} opens", lambda: not self._closed(name).exists())

    def wait_for_arrival(self, name: str) -> None:
        """Return when somebody stands at the gate."""
        eventually(f"somebody comes to gate {name}", lambda: self.has_stopped_somebody(name))

    def has_stopped_somebody(self, name: str) -> bool:
        """Tell whether anybody has come to the gate while it was closed."""
        return self._reached(name).exists()

    def _closed(self, name: str) -> Path:
        return self._file(name, "closed")

    def _reached(self, name: str) -> Path:
        return self._file(name, "reached")

    def _file(self, name: str, state: str) -> Path:
        # A job's name can be longer than a file's.
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()}.{state}"
