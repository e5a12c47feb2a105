"""The answers files in examples/, which the documentation shows."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matrix
from tests.conftest import Render
from tests.rendering import ROOT

EXAMPLES = sorted(ROOT.glob("examples/*.yml"))

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def answers_of(path: Path) -> dict[str, Any]:
    """The answers of an example."""
    answers: dict[str, Any] = yaml.safe_load(path.read_text())
    return answers


def test_every_framework_and_platform_has_an_example() -> None:
    for question in ("platform", "framework"):
        shown = {answers_of(path)[question] for path in EXAMPLES}
        assert shown == set(matrix.values_of(question))


@every_example
def test_an_example_answers_only_what_is_asked(path: Path) -> None:
    """Copier ignores an answer without a question, so a misspelt one would go unnoticed."""
    assert answers_of(path).keys() <= matrix.questions().keys()


@every_example
def test_an_example_is_accepted_and_recorded(rendered: Render, path: Path) -> None:
    answers = answers_of(path)
    recorded = yaml.safe_load((rendered(**answers) / ".copier-answers.yml").read_text())
    assert {name: recorded[name] for name in answers} == answers
