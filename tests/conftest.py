"""What the template's own tests share."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.environments import Uv
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


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Uv:
    """Makes environments beside the one that runs the tests."""
    return Uv(tmp_path_factory.mktemp("uv"))


@pytest.fixture
def rendered(questionnaire: Path, tmp_path: Path) -> Render:
    """Render the files that depend on answers, each time into a new folder."""
    numbers = itertools.count(1)

    def new(**answers: Any) -> Path:
        return render(questionnaire, tmp_path / f"project-{next(numbers)}", answers)

    return new
