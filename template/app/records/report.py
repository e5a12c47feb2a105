"""What the command prints: a table for people, a JSON object for scripts, and an exit status."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final

CHANGED: Final = (
    "The record has changed since it was read, so nothing was done. Look at it again by `show`."
)


class Exit(IntEnum):
    """The exit statuses, which scripts rely on."""

    DONE = 0
    """Done, and nothing is wrong."""
    SEE_TO = 1
    """Somebody has to see to it: runs are missed or stuck, or a run was not redone."""
    FAILED = 2
    """The command line or the environment is wrong, the store failed, or nothing can be printed."""
    REFUSED = 3
    """Not done, because it would not be safe, or because the record has changed meanwhile."""


class Mistake(Exception):
    """The command makes no sense as it was given. `str()` says what would."""


class Refused(Exception):
    """What was asked for is not safe. `str()` says why, and what would be."""


@dataclass(frozen=True, slots=True)
class Report:
    """How a command ended: `data` for scripts, `text` for people."""

    data: dict[str, object]
    text: str
    exit: Exit = Exit.DONE

    def shown(self, *, as_json: bool) -> str:
        """Return what is to be printed."""
        return json.dumps(self.data, indent=2, allow_nan=False) if as_json else self.text


def written(moment: datetime | None) -> str | None:
    """Return a time as RFC 3339 has it, in UTC."""
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def plain(value: object) -> str:
    """Return a value as one line of text that no terminal takes for a command."""
    if value is None:
        return "-"
    return "".join(char if char.isprintable() else "?" for char in str(value))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows under their headings, in columns as wide as they have to be."""
    lines = [[heading.upper() for heading in headings], *([*map(plain, row)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def seconds(count: float) -> str:
    """Return a length of time for people, such as 42 s, 7 min or 3 h."""
    for unit, length, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if count < length * most:
            return f"{count / length:.0f} {unit}"
    return f"{count / 86_400:.0f} d"
