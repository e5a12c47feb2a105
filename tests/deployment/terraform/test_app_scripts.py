"""`make setup` and `make deploy` on App Engine, by Terraform itself but without Google."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rendering import ROOT, clean_environment

APP = {
    "locationId": "us-central",
    "defaultHostname": "my-project.uc.r.appspot.com",
    "codeBucket": "staging.my-project.appspot.com",
}

CONFIGURATION = """
variable "project" { type = string }
variable "app" { type = object({ locationId = string, defaultHostname = string }) }
variable "deployed" { type = bool }
output "deployed" { value = var.deployed }
output "url" { value = "https://${var.app.defaultHostname}" }
output "app_yaml" { value = "service=nightly-report\\nLEASE_SECONDS=60" }
"""

GCLOUD = f"""#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
case $* in
  *"${{FAILING:-nothing}}"*) echo "there is none" >&2; exit 1 ;;
  "app describe "*) echo '{json.dumps(APP)}' ;;
  "app deploy "*) cp .app.yaml "$CALLS.yaml" ;;
esac
"""


class Folder:
    """A folder with the scripts, and a gcloud that notes what it is asked for."""

    def __init__(self, path: Path) -> None:
        self.infra = path / "project" / "infra"
        self.infra.mkdir(parents=True)
        for name in ("steps.sh", "app_steps.sh", "app_setup.sh", "app_deploy.sh"):
            shutil.copy(ROOT / "template" / "infra" / name, self.infra)
        (self.infra / "main.tf").write_text(CONFIGURATION)
        (self.infra / "answers.auto.tfvars").write_text('project = "my-project"\n')
        (self.infra.parent / "app.yaml").write_text("runtime: python312\nservice: other\n")
        self.calls = path / "calls"
        self.calls.touch()
        tools = path / "tools"
        tools.mkdir()
        (tools / "gcloud").write_text(GCLOUD)
        (tools / "gcloud").chmod(0o755)
        self.environment = clean_environment() | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "CALLS": os.fspath(self.calls),
            "PYTHON": sys.executable,
            "PYTHONPATH": os.fspath(ROOT / "template"),
        }

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.infra / f"app_{script}.sh", "-auto-approve", "-no-color"],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def deployed(self) -> bool:
        """Whether the state says that the service is there."""
        state = json.loads((self.infra / "terraform.tfstate").read_text())
        value: bool = state["outputs"]["deployed"]["value"]
        return value


@pytest.fixture
def folder(terraform: str, tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_the_setup_leaves_out_the_job_until_there_is_a_service(folder: Folder) -> None:
    result = folder.run("setup")
    assert result.returncode == 0, result.stderr
    assert not folder.deployed()
    assert result.stdout.endswith("Next: make deploy\n")
    assert json.loads((folder.infra / "app.auto.tfvars.json").read_text()) == {"app": APP}


def test_the_job_comes_after_the_service_and_stays(folder: Folder) -> None:
    result = folder.run("deploy")
    assert result.returncode == 0, result.stderr
    assert folder.deployed()
    sent = Path(f"{folder.calls}.yaml").read_text()
    assert '"service": "nightly-report"\n' in sent
    assert '"LEASE_SECONDS": "60"\n' in sent
    assert not (folder.infra.parent / ".app.yaml").exists()
    assert "/project/.app.yaml --project=my-project --quiet\n" in folder.calls.read_text()
    result = folder.run("setup")
    assert result.returncode == 0, result.stderr
    assert folder.deployed()


def test_without_an_app_a_person_has_to_make_it(folder: Folder) -> None:
    result = folder.run("setup", FAILING="app describe")
    assert result.returncode == 1
    assert "there is none" in result.stderr
    assert "for good: gcloud app create --project=my-project" in result.stderr
    assert not (folder.infra / "app.auto.tfvars.json").exists()


def test_without_a_default_service_nothing_is_deployed(folder: Folder) -> None:
    result = folder.run("deploy", FAILING="app services describe default")
    assert result.returncode == 1
    assert "no service named default" in result.stderr
    assert "app deploy" not in folder.calls.read_text()
    assert not folder.deployed()


def test_a_failed_deployment_makes_no_job(folder: Folder) -> None:
    result = folder.run("deploy", FAILING="app deploy")
    assert result.returncode == 1
    assert "the service could not be deployed" in result.stderr
    assert not folder.deployed()
