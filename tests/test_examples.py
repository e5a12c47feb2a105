"""The answers files in examples/, which the documentation shows."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matrix
from tests.conftest import Render
from tests.rendering import ROOT, files_of, render, run

EXAMPLES = sorted(ROOT.glob("examples/*.yml"))

LOCAL = "not firestore and not spanner and not redis"
"""The tests that need no store's server, by their names."""

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def answers_of(path: Path) -> dict[str, Any]:
    """The answers of an example."""
    answers: dict[str, Any] = yaml.safe_load(path.read_text())
    return answers


@pytest.mark.parametrize("question", ["kind", "platform", "framework", "store", "deploy"])
def test_every_choice_has_an_example(question: str) -> None:
    recorded = [matrix.with_defaults(answers_of(path)) for path in EXAMPLES]
    assert {answers[question] for answers in recorded} == set(matrix.values_of(question))


@every_example
def test_an_example_answers_only_what_is_asked(path: Path) -> None:
    """Copier ignores an answer without a question, so a misspelt one would go unnoticed."""
    assert answers_of(path).keys() <= matrix.questions().keys()


@every_example
def test_an_example_is_accepted_and_recorded(rendered: Render, path: Path) -> None:
    answers = answers_of(path)
    recorded = yaml.safe_load((rendered(**answers) / ".copier-answers.yml").read_text())
    assert {name: recorded[name] for name in answers} == answers


@every_example
def test_a_second_render_is_the_same_byte_for_byte(
    template: Path, tmp_path: Path, path: Path
) -> None:
    first = render(template, tmp_path / "first", answers_of(path))
    again = render(template, tmp_path / "again", answers_of(path))
    assert files_of(again) == files_of(first)


@pytest.mark.slow
@every_example
def test_its_own_tests_pass(template: Path, tmp_path: Path, path: Path) -> None:
    """But for those of the stores, which no answer changes: they are run in place."""
    project = render(template, tmp_path / "project", answers_of(path))
    options = ("-q", "-n", "2", "-p", "no:cacheprovider", "--ignore=tests/conformance")
    run(project, "pytest", *options, "-k", LOCAL)
