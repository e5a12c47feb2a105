"""What is special about some commands. All others are run as they stand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final


@dataclass(frozen=True)
class Elsewhere:
    """A command that another test runs: a file, and what is in it."""

    test: str


@dataclass(frozen=True)
class Never:
    """A command that no test can run here, and why not."""

    reason: str


@dataclass(frozen=True)
class Run:
    """A command that is run in other words, or that may end with another status.

    `words` are those of a regular expression's replacement.
    """

    words: str | None = None
    statuses: tuple[int, ...] = (0,)
    pattern: str = ""


Rule = Elsewhere | Never | Run


RULES: Final[list[tuple[str, str, Rule]]] = [
    # A document, a command, and what is special about it. The first that matches both counts.
    ("README.md", "make demo", Elsewhere("tests/test_demo.py")),
    (
        "README.md|docs/how-to/add-a-store.md",
        "make (check )?test(-fast)?|make check",
        Never("it runs all tests, this one too"),
    ),
    (".*", "make check", Elsewhere("tests/test_fresh_machine.py::test_its_checks_pass")),
    (".*", "make test", Elsewhere("tests/test_fresh_machine.py::test_its_tests_pass")),
    (".*", "make serve", Run("serve make serve")),
    (
        ".*",
        "gcloud auth (application-default )?login|gcloud config set project .*",
        Never("it opens a browser"),
    ),
    (".*", r"((?:\w+=\S+ )*)(make (?:setup|deploy).*)", Run(r'\1PATH="$FAKE:$PATH" \2')),
]

NAMES: Final = {
    r"localhost:8080": "localhost:$PORT",
    r"\bRUN_ID\b": "5a" * 32,
}
"""What a reader puts in the place of something, in every command."""


@dataclass(frozen=True)
class Place:
    """Where a document's commands are run: a project with these answers, or the repository."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    repository: bool = False


PLACES: Final[list[tuple[str, Place]]] = [
    (r"README\.md|docs/tutorial\.md|docs/how-to/add-a-store\.md", Place(repository=True)),
    (r"docs/how-to/run-on-app-engine\.md", Place({"platform": "app-engine"})),
    (r"docs/how-to/deploy-with-terraform\.md", Place({"deploy": "terraform"})),
    (r".*", Place()),
]


def rule_for(document: str, command: str) -> Rule:
    """Return what is special about a command, or that nothing is."""
    for documents, pattern, rule in RULES:
        if re.fullmatch(documents, document) and re.fullmatch(pattern, command, re.DOTALL):
            return replace(rule, pattern=pattern) if isinstance(rule, Run) else rule
    return Run()
