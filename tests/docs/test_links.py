"""What the documentation refers to is there, and all of it can be found from the README."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.markdown import Document, of_the_repository
from tests.docs.readmes import EXAMPLES, PAGES, readme_of
from tests.docs.sandbox import Kitchen
from tests.rendering import ROOT

DOCUMENTS = {document.name: document for document in of_the_repository()}


def broken(document: Document, folder: Path, pages: Mapping[Path, Document]) -> Iterator[str]:
    """What is wrong with the links of a document in a folder to the pages and to other files."""
    for link in document.links():
        path, _, anchor = link.address.partition("#")
        if re.match(r"[a-z]+:", path):
            if not path.startswith("https://"):
                yield f"{document.name}:{link.line}: {link.address} is not by https"
            continue
        target = (folder / unquote(path)).resolve() if path else None
        if target is not None and not target.exists():
            yield f"{document.name}:{link.line}: there is no {path}"
        elif anchor:
            other = document if target is None else pages.get(target)
            if other is None or anchor not in other.anchors():
                yield f"{document.name}:{link.line}: there is no place {link.address}"


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_of_the_repository_lead_somewhere(name: str) -> None:
    pages = {ROOT / each: document for each, document in DOCUMENTS.items()}
    assert list(broken(DOCUMENTS[name], (ROOT / name).parent, pages)) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_links_of_a_projects_readme_lead_somewhere(kitchen: Kitchen, example: str) -> None:
    document, project = readme_of(kitchen, example)
    pages = {(project / each).resolve(): document for each in PAGES}
    assert list(broken(document, project, pages)) == []


def test_every_page_can_be_found_from_the_readme() -> None:
    found, new = set[str](), {"README.md"}
    while new:
        name = new.pop()
        found.add(name)
        for link in DOCUMENTS[name].links() if name in DOCUMENTS else ():
            target = ((ROOT / name).parent / link.address.partition("#")[0]).resolve()
            if _name(target) and target.is_file() and _name(target) not in found:
                new.add(_name(target))
    pages = {_name(path) for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".svg")}
    assert pages - found == set()
