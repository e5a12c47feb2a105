"""What the job did and what was done to its servers, as lines of JSON that processes share."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

WORK = "work"
FAULTS = "faults"


@dataclass(frozen=True, slots=True)
class Work:
    """The job of an attempt began, or did what it is for (`done`), at a time of the machine."""

    what: str
    run_id: str
    attempt_id: str
    fence: int
    recovered: bool
    group: int
    at: float


@dataclass(frozen=True, slots=True)
class Fault:
    """An interruption, from `begin` to `end`; `group` is the server's, 0 is the store."""

    what: str
    group: int
    begin: float
    end: float


class Journal:
    """Two files in a folder. A line is one appending write, so lines do not mix."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, entry: Work | Fault) -> None:
        """Append a line."""
        name = WORK if isinstance(entry, Work) else FAULTS
        with (self._folder / name).open("ab", buffering=0) as file:
            file.write(json.dumps(asdict(entry)).encode() + b"\n")
            if isinstance(entry, Work) and entry.what == "done":
                os.fdatasync(file.fileno())

    def work(self) -> list[Work]:
        """Return what the job did, in the order in which it was done."""
        return [Work(**line) for line in self._lines(WORK)]

    def faults(self) -> list[Fault]:
        """Return what was done to servers and store, and what they noticed of it."""
        return [Fault(**line) for line in self._lines(FAULTS)]

    def _lines(self, name: str) -> list[dict[str, Any]]:
        path = self._folder / name
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]
