"""What the service logs, as Cloud Logging or a terminal gets it."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from app import logs


class Output(io.StringIO):
    """A stdout that a test can read."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Each line, which has to be a JSON object as RFC 8259 has it, without NaN."""
        lines = self.getvalue().removesuffix("\n").split("\n")
        return [json.loads(line, parse_constant=_no_constant) for line in lines]

    def entry(self, **wanted: object) -> dict[str, Any]:
        """Return the only entry whose fields are as wanted."""
        (found,) = [entry for entry in self.entries if wanted.items() <= entry.items()]
        return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


@contextmanager
def own_root_logger() -> Iterator[None]:
    """Let the code under test configure the root logger, and put pytest's handlers back."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    root.handlers = []
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)


@contextmanager
def captured(level: str = "DEBUG", *, terminal: bool = False) -> Iterator[Output]:
    """Configure logging as the service does, into an output of the test's own."""
    output = Output(terminal=terminal)
    with own_root_logger():
        logs.configure(level, output)
        yield output
