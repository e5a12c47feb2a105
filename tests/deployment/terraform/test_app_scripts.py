"""`make setup` and `make deploy` on App Engine, by Terraform itself but without Google."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.deployment.terraform.script_folder import ScriptFolder
from tests.rendering import ROOT

pytestmark = pytest.mark.slow

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


@pytest.fixture
def folder(terraform: str, tmp_path: Path) -> ScriptFolder:
    folder = ScriptFolder(tmp_path, CONFIGURATION, GCLOUD)
    (folder.infra / "answers.auto.tfvars").write_text('project = "my-project"\n')
    (folder.infra.parent / "app.yaml").write_text("runtime: python312\nservice: other\n")
    folder.environment |= {
        "PYTHON": sys.executable,
        "PYTHONPATH": os.fspath(ROOT / "template"),
    }
    return folder


def test_the_setup_leaves_out_the_job_until_there_is_a_service(folder: ScriptFolder) -> None:
    result = folder.run("app_setup")
    assert result.returncode == 0, result.stderr
    assert not folder.output("deployed")
    assert result.stdout.endswith("Next: make deploy\n")
    assert json.loads((folder.infra / "app.auto.tfvars.json").read_text()) == {"app": APP}


def test_the_job_comes_after_the_service_and_stays(folder: ScriptFolder) -> None:
    result = folder.run("app_deploy")
    assert result.returncode == 0, result.stderr
    assert folder.output("deployed")
    sent = Path(f"{folder.calls}.yaml").read_text()
    assert '"service": "nightly-report"\n' in sent
    assert '"LEASE_SECONDS": "60"\n' in sent
    assert not (folder.infra.parent / ".app.yaml").exists()
    assert "/project/.app.yaml --project=my-project --quiet\n" in folder.calls.read_text()
    result = folder.run("app_setup")
    assert result.returncode == 0, result.stderr
    assert folder.output("deployed")


def test_without_an_app_a_person_has_to_make_it(folder: ScriptFolder) -> None:
    result = folder.run("app_setup", FAILING="app describe")
    assert result.returncode == 1
    assert "there is none" in result.stderr
    assert "for good: gcloud app create --project=my-project" in result.stderr
    assert not (folder.infra / "app.auto.tfvars.json").exists()


def test_without_a_default_service_nothing_is_deployed(folder: ScriptFolder) -> None:
    result = folder.run("app_deploy", FAILING="app services describe default")
    assert result.returncode == 1
    assert "no service named default" in result.stderr
    assert "app deploy" not in folder.calls.read_text()
    assert not folder.output("deployed")


def test_a_failed_deployment_makes_no_job(folder: ScriptFolder) -> None:
    result = folder.run("app_deploy", FAILING="app deploy")
    assert result.returncode == 1
    assert "the service could not be deployed" in result.stderr
    assert not folder.output("deployed")
