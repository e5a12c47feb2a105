"""Every question matters, every file of the questionnaire is used, and no answer is misspelt.

Copier takes an answer without a question in silence, so a misspelt one would change nothing.
"""

import itertools
import re
from pathlib import Path

import pytest
from jinja2 import nodes

from tests import matrix
from tests.conftest import Render
from tests.rendering import ROOT, git, sources

JINJA = [ROOT / name for name in sources() if name.endswith(".jinja") or name == "copier.yml"]
"""The files of the template that are written in Jinja."""

# `--data NAME=VALUE` and `-d NAME=VALUE`; NAME is in capitals where it stands for any.
GIVEN = re.compile(r"""(?:--data|-d)[ =]["']?([a-z]\w*)=""")
DATA_FILE = re.compile(r"--data-file[ =]([a-z]\S+\.yml)")


def read(path: Path) -> str:
    """A file's text, if it is one."""
    return path.read_text(errors="replace")


def documents() -> list[Path]:
    """All committed files that may show or give an answer on a command line."""
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return [ROOT / name for name in names if name and name != "requirements.lock"]


def referred_to(path: Path) -> set[str]:
    """The files that a file of Jinja includes or imports, whatever the choices are."""
    found = set[str]()
    tree = matrix.parsed(read(path))
    every: list[nodes.Include | nodes.FromImport]
    every = [*tree.find_all(nodes.Include), *tree.find_all(nodes.FromImport)]
    for node in every:
        name = node.template
        parts = name.nodes if isinstance(name, nodes.Concat) else [name]
        found |= {"".join(each) for each in itertools.product(*map(values_of, parts))}
    return found


def values_of(part: nodes.Expr) -> list[str]:
    """What a part of a file's name can be: a text, or the answer to a question."""
    match part:
        case nodes.Const(value=str(text)):
            return [text]
        case nodes.Name(name=question):
            return matrix.values_of(question)
    raise ValueError(part)


def test_every_question_changes_some_file() -> None:
    """The answers file does not count, nor do validators and defaults."""
    used = set(matrix.file_questions())
    for path in JINJA:
        if path.is_relative_to(ROOT / "template") or path.is_relative_to(ROOT / "hooks" / "readme"):
            used |= matrix.names_in(read(path))
    assert used == set(matrix.questions())


def test_every_file_around_the_questionnaire_is_used() -> None:
    used = set[str]().union(*map(referred_to, JINJA))
    around = [path.relative_to(ROOT) for path in JINJA]
    assert used == {str(path) for path in around if path.parts[0] == "hooks"}


def test_an_answer_on_a_command_line_has_a_question() -> None:
    given = {path: set(GIVEN.findall(read(path))) for path in documents()}
    unknown = {path: names - matrix.questions().keys() for path, names in given.items()}
    assert not {path: names for path, names in unknown.items() if names}
    assert {"deploy", "lease", "target"} <= set[str]().union(*given.values())


def test_an_answers_file_on_a_command_line_is_there() -> None:
    named = {name for path in documents() for name in DATA_FILE.findall(read(path))}
    assert named
    assert not {name for name in named if not (ROOT / name).exists()}


def test_a_misspelt_answer_fails_the_test_that_gives_it(rendered: Render) -> None:
    with pytest.raises(ValueError, match="no question asks for: frame_work"):
        rendered(frame_work="flask")
