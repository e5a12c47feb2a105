"""What the tests of the deployment share."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests import matrix
from tests.deployment import targets
from tests.deployment.apis import PROJECT_NUMBER
from tests.deployment.expected import (
    expected,
)
from tests.deployment.quick_gcloud import quick_gcloud
from tests.deployment.recorded import deployed
from tests.deployment.recorder import Recorder, recording
from tests.deployment.resources import (
    Answers,
    Deployment,
)
from tests.rendering import clean_environment, render


@dataclass
class Site:
    """A rendered project, and the stand-in of Google Cloud that its scripts talk to."""

    project: Path
    recorder: Recorder
    environment: dict[str, str]

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `deploy/SCRIPT.sh`; what it prints, errors included, is in `stdout`.

        What the owner sets is set, unless `environment` says otherwise.
        """
        return subprocess.run(
            [self.project / "deploy" / f"{script}.sh"],
            env={**self.environment, **targets.kind(self.answers()).given, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def answers(self) -> Answers:
        """The answers of the project."""
        answers: Answers = yaml.safe_load((self.project / ".copier-answers.yml").read_text())
        return answers

    def expected(self) -> Deployment:
        """What the answers of the project ask for."""
        return expected(self.answers(), PROJECT_NUMBER)

    def deployed(self) -> Deployment:
        """What there is."""
        wanted = self.expected()
        return deployed(self.recorder, wanted.project, wanted.region)


Sites = Callable[..., Site]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """A stand-in of Google Cloud in which there is nothing yet."""
    with recording() as started:
        yield started


@pytest.fixture(scope="session")
def gcloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a command `gcloud`, which is the real one."""
    if shutil.which("gcloud") is None:
        if os.environ.get("REQUIRE_STORES"):
            pytest.fail("gcloud is not installed, and REQUIRE_STORES is set")
        pytest.skip("gcloud is not installed")
    with quick_gcloud(tmp_path_factory.mktemp("gcloud")) as folder:
        yield folder


@pytest.fixture
def site(template: Path, tmp_path: Path, recorder: Recorder, gcloud: Path) -> Sites:
    """Render a project for these answers, as installed and ready to be deployed."""

    def ready(answers: matrix.Answers) -> Site:
        project = render(template, tmp_path / "project", dict(answers))
        (project / "uv.lock").touch()
        (project / "requirements.txt").touch()
        if answers["platform"] == "app-engine":
            recorder.resources["appengine/apps/my-project/services/default"] = {"id": "default"}
        settings = {
            "CLOUDSDK_CONFIG": os.fspath(tmp_path / "gcloud"),
            "PATH": f"{gcloud}{os.pathsep}{os.environ['PATH']}",
            "PYTHON": sys.executable,
        }
        return Site(project, recorder, clean_environment() | recorder.environment() | settings)

    return ready
