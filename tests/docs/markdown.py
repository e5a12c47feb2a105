"""The documents that a user reads, and what stands in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.rendering import ROOT

SHELL = ("sh", "bash")
"""The languages whose blocks are commands; an indented block is one of them, too."""

_GENERATED = re.compile(r"<!-- (begin|end): ")


@dataclass(frozen=True)
class Snippet:
    """A block of code. `output` is the block after it that shows what its last command prints."""

    line: int
    language: str
    text: str
    output: str | None = None


@dataclass(frozen=True)
class Span:
    """Code inside of text. `heading` is that of its column, `""` outside of a table."""

    line: int
    text: str
    heading: str = ""


@dataclass(frozen=True)
class Link:
    """A link or a picture."""

    line: int
    address: str


@dataclass(frozen=True)
class Document:
    """A document. `name` says which to a reader of a failed test."""

    name: str
    text: str
    path: Path | None = field(default=None, compare=False)

    @classmethod
    def read(cls, path: Path) -> "Document":
        """Read a file of the repository."""
        return cls(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"), path)

    @cached_property
    def _tokens(self) -> list[Token]:
        return MarkdownIt("commonmark").enable("table").parse(self.text)

    def snippets(self) -> Iterator[Snippet]:
        """Yield the blocks of code that are not generated."""
        last: Snippet | None = None
        for token in self._written():
            if token.type not in ("fence", "code_block"):
                continue
            line = token.map[0] + 1 if token.map else 0
            language = token.info.strip() if token.type == "fence" else "sh"
            if language == "output" and last is not None:
                yield Snippet(last.line, last.language, last.text, token.content)
                last = None
                continue
            if last is not None:
                yield last
            last = Snippet(line, language, token.content)
        if last is not None:
            yield last

    def spans(self) -> Iterator[Span]:
        """Yield the code in text that is not generated, but for what headings say."""
        headings, column, line, in_head, in_title = list[str](), 0, 0, False, False
        for token in self._written():
            match token.type:
                case "heading_open" | "heading_close":
                    in_title = token.type == "heading_open"
                case "table_open":
                    headings = []
                case "thead_open" | "thead_close":
                    in_head = token.type == "thead_open"
                case "tr_open":
                    column = 0
                case "table_close":
                    headings = []
                case "inline":
                    if in_head:
                        headings.append(token.content)
                    if token.map:
                        line = token.map[0] + 1
                    for child in token.children or []:
                        if child.type == "code_inline" and not in_title:
                            heading = headings[column] if column < len(headings) else ""
                            yield Span(line, child.content, heading)
                case "td_close":
                    column += 1

    def links(self) -> Iterator[Link]:
        """Yield what the document refers to."""
        for token in self._tokens:
            for child in token.children or []:
                address = child.attrs.get("href") or child.attrs.get("src")
                if address:
                    yield Link(token.map[0] + 1 if token.map else 0, str(address))

    def anchors(self) -> set[str]:
        """Return what a link to a place inside the document can name, as GitHub makes it."""
        found = set[str]()
        for before, token in zip(self._tokens, self._tokens[1:], strict=False):
            if before.type == "heading_open":
                plain = "".join(child.content for child in token.children or [])
                slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
                number = 0
                while (name := f"{slug}-{number}" if number else slug) in found:
                    number += 1
                found.add(name)
        return found

    def _written(self) -> Iterator[Token]:
        """Yield what a person has written: not what `make reference` puts between its marks."""
        generated = False
        for token in self._tokens:
            if token.type == "html_block" and (mark := _GENERATED.search(token.content)):
                generated = mark[1] == "begin"
            elif not generated:
                yield token


def of_the_repository() -> list[Document]:
    """The repository's own documents."""
    return [Document.read(ROOT / "README.md")] + [
        Document.read(path) for path in sorted((ROOT / "docs").rglob("*.md"))
    ]
