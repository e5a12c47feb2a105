"""What is the owner's stays the owner's through updates."""

import subprocess
import sys
from pathlib import Path

import copier
import pytest
import yaml

from tests import matrix
from tests.rendering import clean_environment, commit, git, render, snapshot

OWNED = ("app/job.py", "tests/test_job.py")
OWNERS_TEXT = '"""The owner\'s."""\n'


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """A template with two releases, of which the second changes owned and other files."""
    template = snapshot(tmp_path / "template")
    commit(template, "First release")
    git(template, "tag", "v1.0.0")
    for path in (*OWNED, ".editorconfig"):
        with (template / "template" / path).open("a") as file:
            file.write("# The template's second release.\n")
    commit(template, "Second release")
    git(template, "tag", "v2.0.0")
    return template


@pytest.fixture
def project(releases: Path, tmp_path: Path) -> Path:
    """A project of the first release, whose owner has written a job and deleted its test."""
    folder = tmp_path / "project"
    render(releases, folder, {"project_name": "Old faithful"}, version="v1.0.0")
    (folder / "app" / "job.py").write_text(OWNERS_TEXT)
    (folder / "tests" / "test_job.py").unlink()
    commit(folder, "Work")
    return folder


def update(project: Path, **answers: str) -> None:
    """Bring the project to the template's newest release."""
    assert answers.keys() <= matrix.questions().keys()
    copier.run_update(
        project,
        data=answers,
        defaults=True,
        overwrite=True,
        quiet=True,
        settings=copier.Settings(),
    )


class TestUpdate:
    def test_the_templates_files_follow(self, project: Path) -> None:
        update(project)
        assert "second release" in (project / ".editorconfig").read_text()

    def test_the_owners_files_stay_as_they_are(self, project: Path) -> None:
        update(project)
        assert (project / "app" / "job.py").read_text() == OWNERS_TEXT

    def test_what_the_owner_deleted_does_not_come_back(self, project: Path) -> None:
        update(project)
        assert not (project / "tests" / "test_job.py").exists()

    def test_answers_stay(self, project: Path) -> None:
        update(project)
        recorded = yaml.safe_load((project / ".copier-answers.yml").read_text())
        assert recorded["project_name"] == "Old faithful"
        assert recorded["store"] == "firestore"

    def test_another_framework_swaps_its_files_and_no_others(self, project: Path) -> None:
        before = set(git(project, "ls-files").split())
        update(project, framework="flask")
        git(project, "add", "--all")
        after = set(git(project, "ls-files").split())
        assert {path for path in before - after if "functions" not in path} == set()
        assert {path for path in after - before if "flask" not in path} == {"gunicorn.conf.py"}
        assert (project / "app" / "job.py").read_text() == OWNERS_TEXT

    def test_dependencies_below_the_line_survive_a_change_above_it(self, project: Path) -> None:
        path = project / "pyproject.toml"
        line = "    # Your dependencies go below this line.\n"
        path.write_text(path.read_text().replace(line, f'{line}    "humanize>=4,<5",\n'))
        commit(project, "A dependency")
        update(project, framework="flask", auth="verify")
        text = path.read_text()
        assert "<<<<<<<" not in text
        assert "humanize" in text
        assert "google-auth" in text


class TestAnotherKind:
    def test_leaves_the_owners_job_where_it_is(self, project: Path) -> None:
        update(project, kind="proxy")
        assert (project / "app" / "job.py").read_text() == OWNERS_TEXT
        assert not (project / "app" / "kinds" / "handler.py").exists()
        assert (project / "app" / "targets" / "workflows.py").exists()

    def test_asks_for_a_job_where_there_was_none(self, releases: Path, tmp_path: Path) -> None:
        project = tmp_path / "proxy"
        render(releases, project, {"kind": "proxy"}, version="v1.0.0")
        commit(project, "Start")
        update(project, kind="handler")
        started = subprocess.run(
            [sys.executable, "-c", "import app.service; app.service.create_service()"],
            cwd=project,
            env=clean_environment() | {"AUTH": "off", "RUN_STORE_URL": "sqlite:///runs.db"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert started.returncode == 3
        assert "app/job.py is missing; write it" in started.stdout
        assert "Traceback" not in started.stdout + started.stderr


class TestRecopy:
    def test_the_owners_job_is_kept(self, project: Path) -> None:
        copier.run_recopy(
            project, defaults=True, overwrite=True, quiet=True, settings=copier.Settings()
        )
        assert (project / "app" / "job.py").read_text() == OWNERS_TEXT
