"""`make setup` and `make deploy`: run by the real Terraform, on a configuration without Google."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.terraform.script_folder import ScriptFolder
from tests.rendering import clean_environment, render

pytestmark = pytest.mark.slow

DIGEST = "us-central1-docker.pkg.dev/my-project/nightly-report/nightly-report@sha256:" + "1" * 64
OLDER = DIGEST.replace("1" * 64, "2" * 64)

CONFIGURATION = """
variable "image" { type = string }
output "image" { value = var.image }
output "url" { value = "https://service.example" }
output "project" { value = "my-project" }
output "region" { value = "us-central1" }
output "images" { value = "us-central1-docker.pkg.dev/my-project/nightly-report/nightly-report" }
output "builder" { value = "projects/my-project/serviceAccounts/builder@example.com" }
"""

GCLOUD = f"""#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
case $1 in
  builds) exit "${{BUILD_STATUS:-0}}" ;;
  artifacts) echo {DIGEST} ;;
esac
"""


@pytest.fixture
def folder(terraform: str, tmp_path: Path) -> ScriptFolder:
    return ScriptFolder(tmp_path, CONFIGURATION, GCLOUD)


@pytest.fixture(scope="module")
def installed(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is installed, as far as make can see."""
    folder = tmp_path_factory.mktemp("installed") / "project"
    project = render(template, folder, {"deploy": "terraform"})
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "uv").touch()
    (project / ".venv" / "bin" / "shellcheck").symlink_to(
        Path(sys.executable).with_name("shellcheck")
    )
    (project / ".venv" / ".ready").touch()
    return project


class TestSetup:
    def test_it_leaves_out_the_service_until_there_is_an_image(self, folder: ScriptFolder) -> None:
        result = folder.run("setup")
        assert result.returncode == 0, result.stderr
        assert folder.output("image") == ""
        assert result.stdout.endswith("Next: make deploy\n")

    def test_it_keeps_the_image_that_runs(self, folder: ScriptFolder) -> None:
        folder.run("deploy", IMAGE=OLDER)
        result = folder.run("setup")
        assert result.returncode == 0, result.stderr
        assert folder.output("image") == OLDER
        assert "make deploy" not in result.stdout

    def test_a_state_that_cannot_be_read_is_no_empty_one(self, folder: ScriptFolder) -> None:
        state = folder.infra / "terraform.tfstate"
        state.write_text("{")
        result = folder.run("setup")
        assert result.returncode == 1
        assert "Stopped: " in result.stderr
        assert state.read_text() == "{"


class TestDeploy:
    def test_it_builds_an_image_and_deploys_it_by_its_digest(self, folder: ScriptFolder) -> None:
        folder.run("setup")
        result = folder.run("deploy")
        assert result.returncode == 0, result.stderr
        assert folder.output("image") == DIGEST
        assert result.stdout.endswith(f"{DIGEST} runs at https://service.example\n")
        built, read = folder.calls.read_text().splitlines()
        tag = read.split()[4]
        assert tag.startswith(f"{DIGEST.partition('@')[0]}:20")
        assert built.startswith("builds submit .. --config=cloudbuild.yaml ")
        for flag in (
            f"--substitutions=_IMAGE={tag}",
            "--service-account=projects/my-project/serviceAccounts/builder@example.com",
            "--project=my-project",
            "--region=us-central1",
            "--quiet",
        ):
            assert flag in built.split()

    def test_it_goes_back_to_an_image_without_building(self, folder: ScriptFolder) -> None:
        result = folder.run("deploy", IMAGE=OLDER)
        assert result.returncode == 0, result.stderr
        assert folder.output("image") == OLDER
        assert folder.calls.read_text() == ""

    def test_before_the_setup_it_says_what_to_do(self, folder: ScriptFolder) -> None:
        result = folder.run("deploy")
        assert result.returncode == 1
        assert result.stderr.endswith("Set up first: make setup\n")
        assert folder.calls.read_text() == ""

    def test_a_failed_build_leaves_the_service_as_it_is(self, folder: ScriptFolder) -> None:
        folder.run("deploy", IMAGE=OLDER)
        result = folder.run("deploy", BUILD_STATUS="1")
        assert result.returncode == 1
        assert (
            "Stopped: the build failed.\nYou need roles/cloudbuild.builds.editor" in result.stderr
        )
        assert folder.output("image") == OLDER


class TestMake:
    @pytest.fixture
    def project(self, installed: Path, tmp_path: Path) -> Path:
        return shutil.copytree(installed, tmp_path / "project", symlinks=True)

    def make(self, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", f"PYTHON={sys.executable}", *arguments],
            cwd=project,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def test_the_retries_come_from_the_retry_budget(self, project: Path) -> None:
        """R31."""
        path = "infra/retries.auto.tfvars.json"
        assert self.make(project, path).returncode == 0
        budget = [sys.executable, "-m", "dev.budget", "--json"]
        printed = subprocess.run(budget, cwd=project, check=True, capture_output=True).stdout
        assert json.loads((project / path).read_text()) == {"retries": json.loads(printed)}

    def test_nothing_is_deployed_whose_retries_end_too_early(self, project: Path) -> None:
        """R31."""
        defaults = project / "app" / "defaults.py"
        defaults.write_text(defaults.read_text().replace("*/15 * * * *", "* * * * *"))
        (project / "infra" / "setup.sh").write_text("#!/bin/sh\necho set up\n")
        result = self.make(project, "setup")
        assert result.returncode != 0
        assert "A crash could lose the run" in result.stderr
        assert "set up" not in result.stdout

    def test_check_finds_a_file_that_is_not_formatted(self, terraform: str, project: Path) -> None:
        assert self.make(project, "check-infra").returncode == 0
        (project / "infra" / "job.tf").write_text("locals {\na = 1\n}\n")
        assert self.make(project, "check-infra").returncode != 0

    def test_check_finds_what_is_wrong_in_a_script(self, project: Path) -> None:
        (project / "infra" / "setup.sh").write_text("#!/bin/sh\necho $1\n")
        result = self.make(project, "check-infra")
        assert result.returncode != 0
        assert "SC2086" in result.stdout

    def test_help_lists_the_commands(self, project: Path) -> None:
        listed = self.make(project, "help").stdout
        assert "make setup " in listed
        assert "make deploy " in listed
