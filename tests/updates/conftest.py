"""What the tests of updates share: a repository with versions, and projects made from them."""

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from tests.rendering import asked, render
from tests.updates.project import Project, State, expected, state_of
from tests.updates.versions import LATEST, MADE_UP, Answers, Repository

Render = Callable[[str, Answers], Path]


class Start(Protocol):
    """Start a project of a profile, as a version makes it."""

    def __call__(self, profile: str, version: str = MADE_UP) -> Project: ...


class Expect(Protocol):
    """What a project has to be like in the end, of which the state before its update is given."""

    def __call__(self, answers: Answers, before: State, *places: tuple[str, str]) -> State: ...


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The template with its versions, and of its files those that owners or answers change."""
    return Repository(tmp_path_factory.mktemp("versions") / "template")


@pytest.fixture(scope="module")
def rendered_once(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Render:
    """Render a version with some answers; the same ones give the same folder again."""
    done = dict[str, Path]()

    def once(version: str, answers: Answers) -> Path:
        key = f"{version} {sorted(answers.items())}"
        if key not in done:
            folder = tmp_path_factory.mktemp("made") / "project"
            # A project remembers answers that no question of a later version asks for.
            names = answers.keys() & asked(repository.folder, version)
            given = {name: answers[name] for name in names}
            done[key] = render(repository.folder, folder, given, version)
        return done[key]

    return once


@pytest.fixture
def start(
    repository: Repository, rendered_once: Render, tmp_path: Path
) -> Callable[[str, str], Project]:
    """Start a project of a profile, as a version makes it."""
    numbers = itertools.count(1)

    def new(profile: str, version: str = MADE_UP) -> Project:
        made = rendered_once(version, repository.example(profile, version))
        return Project(shutil.copytree(made, tmp_path / f"project-{next(numbers)}"))

    return new


@pytest.fixture
def expect(rendered_once: Render) -> Callable[..., State]:
    """What a project has to be like in the end, of which the state before its update is given."""

    def state(answers: Answers, before: State, *places: tuple[str, str]) -> State:
        fresh = rendered_once(LATEST, answers)
        return expected(state_of(fresh), before, places)

    return state
