"""The commands of a document, in its order."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.docs.markdown import SHELL, Document, Snippet

PROGRAMS = (
    *(
        "copier",
        "curl",
        "docker",
        "export",
        "gcloud",
        "git",
        "make",
        "npx",
        "pip",
        "pipx",
        "python",
    ),
    *("python3", "rm", "terraform", "uv", "uvx"),
)
"""Code in text is a command if it begins with one of them."""

_DESCRIPTION = re.compile(r"(?<=\S) {2,}(?=[^\s\\|&<>\"'-]).*")
_COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:\S*/)?({'|'.join(PROGRAMS)})(?: (.*))?", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command of a document.

    Attributes:
        place: Document and line.
        text: What a reader types; one statement of the shell.
        shown: What the document shows as its output, or None.
        in_text: It stands in a sentence or a table, not in a block of commands.
    """

    place: str
    text: str
    shown: str | None = None
    in_text: bool = False


def commands_of(document: Document) -> list[Command]:
    """Return the commands of a document in the order in which a reader meets them."""
    found = list[tuple[int, Command]]()
    for snippet in document.snippets():
        if snippet.language in SHELL:
            found += _of_block(document, snippet)
    for span in document.spans():
        place = f"{document.name}:{span.line}"
        if span.heading == "command" and not _is_command(span.text):
            found.append((span.line, Command(place, f'make runs ARGS="{span.text}"', None, True)))
        elif _is_command(span.text):
            found.append((span.line, Command(place, span.text, None, True)))
    return [command for _, command in sorted(found, key=lambda each: each[0])]


def _is_command(text: str) -> bool:
    match = _COMMAND.fullmatch(text)
    return bool(match and match[2])


def _of_block(document: Document, snippet: Snippet) -> Iterator[tuple[int, Command]]:
    statements = [*statements_in(snippet.text)]
    for number, (line, text) in enumerate(statements, 1):
        shown = snippet.output if number == len(statements) else None
        place = f"{document.name}:{snippet.line + line}"
        yield snippet.line + line, Command(place, text, shown)


def statements_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the statements of a block, each with its line in the block, without descriptions.

    Raises:
        ValueError: what is left at the end is no whole statement.
    """
    begun, first = "", 0
    for number, line in enumerate(text.splitlines()):
        if not begun and (not line.strip() or line[0] in " #"):
            continue
        first = first if begun else number
        begun += line if begun.endswith("\\\n") or " do\n" in begun else _DESCRIPTION.sub("", line)
        if line.endswith("\\") or not _is_whole(begun):
            begun += "\n"
            continue
        yield first, begun
        begun = ""
    if begun:
        raise ValueError(f"no whole statement: {begun}")


@cache
def _is_whole(text: str) -> bool:
    if not re.search(r"['\"(]|\b(for|if|while)\b|<<", text):
        return True
    result = subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False)
    return result.returncode == 0
