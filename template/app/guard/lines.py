"""Where the guard's own words go: to stderr, as stdout is the command's, or nowhere."""

import logging
import os
import sys
from typing import Final

from app import logs
from app.dedup import OutcomeUnknown, Stopping


class CommandFailed(Exception):
    """The command ended with a status that is not 0, or could not be started."""


_EXPECTED: Final = (CommandFailed, OutcomeUnknown, Stopping)
"""What the guard raises about its command, which is no fault of a program on the stack."""


def open_streams() -> None:
    """Let the standard streams that are closed lead nowhere.

    A connection would get their numbers otherwise, and whatever is printed after that. The command
    finds them as closed as they were.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stderr = sys.stderr or os.fdopen(2, "w", errors="backslashreplace", closefd=False)


def configure(level: str) -> None:
    """Log to stderr, and what became of the command in one line."""
    logs.configure(level, sys.stderr)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_stack)


def _without_stack(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, _EXPECTED):
        record.msg, record.args = "%s: %s", (record.getMessage().rstrip("."), error)
        record.exc_info = None
    return True
