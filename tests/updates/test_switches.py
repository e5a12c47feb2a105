"""`copier update -d NAME=VALUE`: another feature's files come, the old one's go, and it works."""

import subprocess
import sys

import pytest

from tests.rendering import clean_environment, run
from tests.updates.conftest import Expect, Start
from tests.updates.owner import work
from tests.updates.project import Project, differences, state_of
from tests.updates.versions import Answers, Repository


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The template with its versions, and all that it takes to start the service."""
    return Repository(tmp_path_factory.mktemp("versions") / "template", "app", "deploy", "infra")


SWITCHES: list[tuple[str, Answers, Answers]] = [
    ("handler", {"store": "spanner"}, {}),
    ("handler", {"framework": "fastapi"}, {}),
    ("handler", {"deploy": "terraform"}, {}),
    ("handler", {"platform": "app-engine"}, {"framework": "flask", "auth": "app-engine"}),
    ("handler", {"kind": "proxy"}, {"target": "workflows"}),
    ("workflows-proxy", {"target": "bigquery"}, {}),
    ("step", {"auth": "iam"}, {}),
]
"""Profiles, the answer that is changed, and the answers that follow, as they cannot stay."""


@pytest.mark.slow
class TestSwitch:
    @pytest.mark.parametrize(
        ("profile", "change", "follows"),
        SWITCHES,
        ids=[f"{profile}:{'='.join(*change.items())}" for profile, change, _ in SWITCHES],
    )
    def test_swaps_its_files_and_no_others(
        self, start: Start, expect: Expect, profile: str, change: Answers, follows: Answers
    ) -> None:
        project = start(profile)
        answers, places = project.answers | change | follows, work(project.folder)
        before = state_of(project.folder)
        project.commit()
        project.update(**change)
        assert differences(state_of(project.folder), expect(answers, before, *places)) == []
        run(project.folder, "ruff", "check", "--no-cache")
        run(project.folder, "ruff", "format", "--check", "--no-cache")
        started = begin(project)
        assert started.returncode == 0, started.stdout + started.stderr

    def test_to_a_job_of_ones_own_asks_for_the_job(self, start: Start, expect: Expect) -> None:
        """No update writes an owner's file, so the service says what is missing."""
        project = start("workflows-proxy")
        answers, places = project.answers | {"kind": "handler"}, work(project.folder)
        before = state_of(project.folder)
        project.commit()
        project.update(kind="handler")
        del answers["target"]
        assert differences(state_of(project.folder), expect(answers, before, *places)) == []
        started = begin(project)
        assert started.returncode == 3
        assert "app/job.py is missing; write it" in started.stdout
        assert "Traceback" not in started.stdout + started.stderr


def begin(project: Project) -> subprocess.CompletedProcess[str]:
    """Start the service as its server does, up to the point at which it would listen."""
    settings = {
        "AUTH": "off",
        "RUN_STORE_URL": "sqlite:///runs.db",
        "TARGET": "projects/p/locations/us-central1/workflows/w",
    }
    if project.answers.get("target") == "bigquery":
        settings["TARGET"] = "projects/p/locations/us-central1"
    return subprocess.run(
        [sys.executable, "-c", "import main"],
        cwd=project.folder,
        env=clean_environment() | settings,
        capture_output=True,
        text=True,
        check=False,
    )
