"""What the template's modules say of themselves, read without running them."""

import ast
import inspect
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docs.generate import TEMPLATE


@cache
def tree(path: str) -> ast.Module:
    """Return a module of the template, by its path inside it."""
    return ast.parse((TEMPLATE / path).read_text(encoding="utf-8"), path)


def modules(*folders: str) -> Iterator[str]:
    """Yield the paths of the modules in folders of the template, and below them."""
    for folder in folders:
        for path in sorted((TEMPLATE / folder).rglob("*.py")):
            yield path.relative_to(TEMPLATE).as_posix()


def notes(body: list[ast.stmt]) -> dict[str, str]:
    """Return the docstrings under assignments, by the name that is assigned."""
    found = dict[str, str]()
    for statement, after in itertools.pairwise(body):
        match statement, after:
            case (
                ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(ast.Constant(str(text))),
            ):
                found[name] = text
    return found


def class_of(path: str, name: str) -> ast.ClassDef:
    """Return a class of a module."""
    (found,) = [
        node for node in tree(path).body if isinstance(node, ast.ClassDef) and node.name == name
    ]
    return found


def attributes(documented: object) -> dict[str, str]:
    """Return what the section `Attributes:` of a docstring says, by name."""
    section = re.search(
        r"^Attributes:\n(.*?)(\n\n|\Z)", _dedented(documented), re.DOTALL | re.MULTILINE
    )
    if section is None:
        return {}
    entries = re.findall(
        r"^    (\w+): (.*?)(?=^    \w+: |\Z)", section[1] + "\n", re.DOTALL | re.MULTILINE
    )
    return {name: " ".join(text.split()) for name, text in entries}


def summary(documented: object) -> str:
    """Return a docstring without its sections."""
    text = re.split(r"\n\n(?:Attributes|Args|Raises|Returns):\n", _dedented(documented))[0]
    return " ".join(text.split())


def text_of(node: ast.expr) -> str | None:
    """Return a string as it is written, with `…` for what is filled in; None if it is none."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(values):
            return "".join(text_of(value) or "…" for value in values)
        case ast.BinOp(left, ast.Add(), right):
            return f"{text_of(left) or '…'}{text_of(right) or '…'}"
    return None


def _dedented(documented: object) -> str:
    return inspect.getdoc(documented) or ""


def read(path: str) -> str:
    """Return the text of a file of the template."""
    return Path(TEMPLATE, path).read_text(encoding="utf-8")
