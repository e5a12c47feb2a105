"""What a reader of a document does: what is typed, and what is put into files, in order."""

import re
from dataclasses import dataclass

from tests.docs.commands import Command, commands_of
from tests.docs.markdown import Document

_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")


@dataclass(frozen=True)
class File:
    """A block of code whose first line says into which file it goes."""

    place: str
    path: str
    text: str


def actions_of(document: Document) -> list[Command | File]:
    """Return commands and files in their order."""
    found: list[tuple[int, Command | File]] = []
    for snippet in document.snippets():
        if match := _FILE.match(snippet.text):
            place = f"{document.name}:{snippet.line}"
            found.append((snippet.line, File(place, match[1], snippet.text)))
    commands = commands_of(document)
    blocks = {command.text for command in commands if not command.in_text}
    # What a sentence repeats is done once.
    found += [
        (int(each.place.rpartition(":")[2]), each)
        for each in commands
        if not (each.in_text and each.text in blocks)
    ]
    return [action for _, action in sorted(found, key=lambda each: each[0])]
