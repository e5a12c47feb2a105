"""Markdown's tables and code."""

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a cell is one line, in which a bar is no border."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def code(text: object) -> str:
    """Return text as code, whatever is in it."""
    fence = "``" if "`" in str(text) else "`"
    space = " " if fence == "``" else ""
    return f"{fence}{space}{text}{space}{fence}"


def escaped(text: str) -> str:
    """Return text in which nothing is markup, as messages of the code quote what users wrote."""
    return text.replace("*", "\\*").replace("<", "\\<")


def block(text: str, language: str = "") -> str:
    """Return a block of code."""
    return f"```{language}\n{text.strip()}\n```"


def sentence(text: str) -> str:
    """Return a docstring's text as one line."""
    return " ".join(text.split())


def _cell(text: str) -> str:
    return sentence(text).replace("|", "\\|")
