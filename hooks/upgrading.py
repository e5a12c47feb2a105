"""UPGRADING.md: what a version asks of owners, in tables that the release contract reads too."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("question", "choice", "type", "path", "owner", "line", "copier")
UNRELEASED = (10**9,)
"""Later than every version."""

_HEADING = re.compile(r"## (?:v?(\d+(?:\.\d+)*)|(Unreleased))\b")
_ROW = re.compile(r"\|(.+)\|(.+)\|(.+)\|(.+)\|\s*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: what kind of thing was how, is how now, and what the owner does about it."""

    version: tuple[int, ...]
    kind: str
    before: tuple[str, ...]
    now: str
    by_hand: str


class BadEntry(Exception):
    """A row that cannot be an entry. `str()` tells which, and why."""


def release_of(name: str) -> tuple[int, ...]:
    """A version as numbers that can be compared."""
    return tuple(map(int, name.removeprefix("v").split(".")))


def entries(text: str) -> Iterator[Entry]:
    """Read the rows of every version's table.

    Raises:
        BadEntry: a row has an unknown kind, or says nothing of what was or of what to do.
    """
    version: tuple[int, ...] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("## "):
            heading = _HEADING.match(line)
            version = None
            if heading:
                version = release_of(heading[1]) if heading[1] else UNRELEASED
        row = _ROW.match(line)
        if version is None or row is None:
            continue
        kind, before, now, by_hand = (cell.strip() for cell in row.groups())
        if kind == "what" or not kind.strip("-: "):
            continue
        spans = tuple(re.findall(r"`([^`]+)`", before))
        if kind not in KINDS:
            raise BadEntry(
                f"line {number}: {kind!r} is none of {', '.join(KINDS)}, with which a row begins"
            )
        if not spans or not now or not by_hand:
            raise BadEntry(
                f"line {number}: a row has four cells, what was in `code`, and none is empty"
            )
        yield Entry(version, kind, spans, now, by_hand)


def row(kind: str, *before: str) -> str:
    """What an entry about something has to look like."""
    was = ", ".join(f"`{one}`" for one in before)
    return f"| {kind} | {was} | what is there now | what the owner does |"
