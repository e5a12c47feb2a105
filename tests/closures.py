"""What a Python file is made of: itself, and the files of its project that it imports."""

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

_REACHES_OUT = re.compile(r"\b(subprocess|import .*PROJECT|__file__)\b")
"""In a file that starts commands or reads files, whose sources no import tells."""


@cache
def own_imports(text: str) -> frozenset[str]:
    """The modules that a Python file imports from its own project, and names in them."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names):
                found |= {each.name for each in names}
            case ast.ImportFrom(module=str(module), names=names):
                # What is imported from a package may be a module, or a name in it.
                found |= {module, *(f"{module}.{each.name}" for each in names)}
    return frozenset(name for name in found if name.split(".")[0] in ("app", "dev", "tests"))


def lacking(text: str, modules: Collection[str]) -> set[str]:
    """The modules that a Python file imports from its project, and that are not in `modules`."""
    return {
        name
        for name in own_imports(text)
        # The last part may be a name in the module before it.
        if name not in modules and name.rpartition(".")[0] not in modules
    }


def modules_of(paths: Iterable[str]) -> set[str]:
    """The modules that a project's files make, and the packages that these are in."""
    found = set[str]()
    for path in paths:
        parts = path.removesuffix(".py").split("/")
        found |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return found


def closure(path: str, texts: Mapping[str, str]) -> set[str]:
    """The paths of a file, of what it imports from its project, of what these import, and so on."""
    found, left = set[str](), [path]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            for module in own_imports(texts[one]):
                left += [each for each in _files_of(module) if each in texts]
    return found


def _files_of(module: str) -> list[str]:
    """The files that an import of a module runs; of a name in a module, those of the module."""
    parts = module.split(".")
    names = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return [f"{name}{end}" for name in names for end in (".py", "/__init__.py")]


def is_proven_by(path: str, texts: Mapping[str, str], others: Mapping[str, str]) -> bool:
    """Whether a test is, with all that it is made of, the same in another project."""
    return all(
        others.get(each) == texts[each] and not _REACHES_OUT.search(texts[each])
        for each in closure(path, texts)
    )
