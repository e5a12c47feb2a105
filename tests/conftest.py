"""What the template's own tests share."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import matrix
from tests.rendering import questionnaire_alone, render, snapshot

Render = Callable[..., Path]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template as it stands. A render of a plain folder is quicker than one of a repository."""
    return snapshot(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="session")
def questionnaire(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The questionnaire with only those files whose text depends on the answers."""
    return questionnaire_alone(tmp_path_factory.mktemp("questionnaire"))


@pytest.fixture
def rendered(questionnaire: Path, tmp_path: Path) -> Render:
    """Render the files that depend on answers, each time into a new folder."""
    numbers = itertools.count(1)

    def new(**answers: Any) -> Path:
        return render(questionnaire, tmp_path / f"project-{next(numbers)}", answers)

    return new


@pytest.fixture(scope="session")
def variant(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Render a variant once for all its tests, which only read it."""
    projects = dict[str, Path]()

    def project(answers: matrix.Answers) -> Path:
        name = matrix.name_of(answers)
        if name not in projects:
            folder = tmp_path_factory.mktemp("variant") / "project"
            projects[name] = render(template, folder, dict(answers))
        return projects[name]

    return project
