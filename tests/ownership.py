"""Whose a file of a generated project is, as the template says it to Copier and to the owner."""

import re
from collections.abc import Mapping

from tests import matrix
from versions import SENTINEL


def owned() -> set[str]:
    """The paths of the files that are the owner's from the first day, of all variants."""
    return {path.removeprefix("/") for path in matrix.questionnaire()["_skip_if_exists"]}


def sentinels(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Every line for the owner's additions, with the path of its file."""
    return [(path, line) for path, text in files.items() for line in SENTINEL.findall(text)]


def told(readme: str) -> dict[str, set[str]]:
    """What a project's README says: files, by the first words of whose they are."""
    _, _, part = readme.partition("## Whose file is it?")
    rows = re.findall(r"(?m)^\| (.+?) \| ([^:|]+)[^|]*\|$", part)
    return {
        whose.partition(" by ")[0].strip(): set(re.findall(r"`([^`]+)`", names))
        for names, whose in rows
    }
