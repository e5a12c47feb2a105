"""Patterns of `_exclude`, which Copier reads as git reads those of .gitignore."""

import re
from functools import cache
from pathlib import PurePosixPath


class UnknownPattern(Exception):
    """A pattern of a kind that is not read here. `str()` tells which."""


def matched(paths: frozenset[str], patterns: str) -> frozenset[str]:
    """The paths that patterns match, one in each line; most of these name one path from the top.

    Raises:
        UnknownPattern: a pattern takes back what others match.
    """
    lines = {line.strip() for line in patterns.splitlines()} - {""}
    if any(line.startswith("!") for line in lines):
        raise UnknownPattern("a pattern begins with !, which the release contract does not read")
    globs = frozenset(line for line in lines if re.search(r"[*?[]", line))
    anchored = {line.strip("/") for line in lines - globs if "/" in line.rstrip("/")}
    anywhere = {line.strip("/") for line in lines - globs} - anchored
    return frozenset(
        path
        for path in paths
        if not anchored.isdisjoint(_with_folders(path))
        or not anywhere.isdisjoint(path.split("/"))
        or _globbed(path, globs)
    )


@cache
def _globbed(path: str, globs: frozenset[str]) -> bool:
    return any(
        PurePosixPath("/", each).match(glob.rstrip("/"))
        for each in _with_folders(path)
        for glob in globs
    )


@cache
def _with_folders(path: str) -> frozenset[str]:
    return frozenset({path, *map(str, PurePosixPath(path).parents)})
