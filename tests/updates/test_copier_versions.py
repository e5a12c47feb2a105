"""The oldest Copier that the template asks for and the newest one do the same, without trust."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import matrix
from tests.environments import Uv
from tests.rendering import ROOT, clean_environment
from tests.updates.conftest import Expect, Start
from tests.updates.owner import work
from tests.updates.project import Project, differences, state_of
from tests.updates.versions import MADE_UP, Repository

pytestmark = pytest.mark.slow

OLDEST = f"copier=={matrix.questionnaire()['_min_copier_version']}"
NEWEST = "copier"

Copier = Callable[..., str]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The template with its versions, and a folder of it that is whole."""
    return Repository(tmp_path_factory.mktemp("versions") / "template", "app")


@pytest.fixture(scope="module", params=[OLDEST, NEWEST])
def copier(
    uv: Uv, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Copier:
    """Run a version of Copier in a folder as a person does, who answers nothing."""
    folder = tmp_path_factory.mktemp("copier")
    uv.run("venv", folder / "environment")
    uv.run("pip", "install", "--python", folder / "environment", request.param)
    (folder / "settings.yml").write_text("{}\n")
    settings = {"COPIER_SETTINGS_PATH": os.fspath(folder / "settings.yml")}

    def run(place: Path, *arguments: str | Path) -> str:
        done = subprocess.run(
            [os.fspath(folder / "environment" / "bin" / "copier"), *arguments],
            cwd=place,
            env=clean_environment() | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def test_copies_and_updates_the_same(
    copier: Copier, repository: Repository, start: Start, expect: Expect, tmp_path: Path
) -> None:
    """By its command, which the tests of updates do without."""
    project = Project(tmp_path / "by-command")
    copier(
        tmp_path,
        *("copy", "--defaults", "--vcs-ref", MADE_UP),
        *("--data-file", ROOT / "examples" / "handler.yml"),
        *(repository.folder, project.folder),
    )
    assert differences(state_of(project.folder), state_of(start("handler").folder)) == []

    answers, places = project.answers, work(project.folder)
    before = state_of(project.folder)
    project.commit()
    assert "New template version available" in copier(project.folder, "check-update")
    said = copier(project.folder, "update", "--defaults")
    assert differences(state_of(project.folder), expect(answers, before, *places)) == []
    assert "UPGRADING.md" in said
    project.commit()
    assert "up-to-date" in copier(project.folder, "check-update")
