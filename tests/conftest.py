"""What the template's own tests share."""

import hashlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.environments import Uv
from tests.rendering import questionnaire_alone, quick_renders, render, snapshot

Render = Callable[..., Path]
IsFirst = Callable[[str], bool]


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    """Render many projects in little time; `test_examples` sees that they are no different."""
    with quick_renders():
        yield


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


@pytest.fixture(scope="session")
def is_first(tmp_path_factory: pytest.TempPathFactory) -> IsFirst:
    """Whether nobody has asked about a text before, in any of the processes that run the tests."""
    base = tmp_path_factory.getbasetemp()
    seen = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "seen-texts"
    seen.mkdir(exist_ok=True)

    def claim(text: str) -> bool:
        try:
            (seen / hashlib.sha256(text.encode()).hexdigest()).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    return claim


@pytest.fixture(scope="session")
def terraform() -> str:
    """The path of Terraform; without it, its tests are skipped, and fail where it is required."""
    path = shutil.which("terraform")
    if path is None:
        missing = "terraform is not installed"
        if os.environ.get("REQUIRE_STORES"):
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all projects, which have their libraries in common."""
    return tmp_path_factory.mktemp("mypy-cache")
