"""App Engine runs the service as app.yaml says, with what this deployment adds."""

import json
import re
from pathlib import Path

import pytest
import yaml

from dev.app_yaml import changed
from tests.gcloud.conftest import Deploy
from tests.support.gcloud import ROOT, Stopped, deploy, first_parts
from tests.support.platforms.app_engine import app_yaml

APP_YAML = ROOT / "app.yaml"

pytestmark = pytest.mark.skipif(
    not APP_YAML.exists(), reason="app.yaml belongs to projects for App Engine"
)


def stopped(folder: Path, **environment: str) -> str:
    """Return what is said at the stop."""
    with pytest.raises(Stopped) as caught:
        deploy(folder, first_parts(), environment)
    return str(caught.value)


def test_it_is_what_app_yaml_says(deployed: Deploy) -> None:
    """R33: who is let through, and all that the owner has added."""
    said, sent = yaml.safe_load(APP_YAML.read_text()), app_yaml(deployed().calls)
    added = {"env_variables", "service", "service_account", "vpc_access_connector"}
    assert {name: sent[name] for name in said.keys() - added} == {
        name: said[name] for name in said.keys() - added
    }
    assert said["env_variables"].items() <= sent["env_variables"].items()
    assert sent.keys() - said.keys() <= {"vpc_access_connector"}


def test_variables_are_texts_and_changes_go_before() -> None:
    text = changed(
        "service: a\nenv_variables:\n  MINE: x\n  LEASE_SECONDS: '5'\n", ["LEASE_SECONDS=60"]
    )
    assert yaml.safe_load(text) == {
        "service": "a",
        "env_variables": {"MINE": "x", "LEASE_SECONDS": "60"},
    }


@pytest.mark.parametrize("value", ["1e3", "1234e56", "y", "0123", "a: b", '"', "é"])
def test_texts_stay_texts(value: str) -> None:
    """Gcloud takes what has no quotes for a number or a truth value where it looks like one."""
    text = yaml.safe_dump({"env_variables": {"MINE": value}})
    assert f'"MINE": {json.dumps(value, ensure_ascii=False)}\n' in changed(text, [])


@pytest.mark.parametrize("text", ["service: a\nenv_variables:\n", "service: a\n"])
def test_variables_need_not_be_there(text: str) -> None:
    assert yaml.safe_load(changed(text, ["A=b"])) == {"service": "a", "env_variables": {"A": "b"}}


def test_variables_of_the_build_are_not_the_services() -> None:
    text = "build_env_variables: &both\n  A: b\nenv_variables: *both\n"
    assert yaml.safe_load(changed(text, ["C=d"]))["build_env_variables"] == {"A": "b"}


@pytest.mark.parametrize("text", ["", "# only a comment", "- a list", "words", "env_variables: 5"])
def test_what_is_no_app_yaml_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"ha(s|ve) to be a mapping"):
        changed(text, [])


def test_the_job_calls_this_service(deployed: Deploy) -> None:
    """R33: by its name, or by its address."""
    done = deployed()
    assert (
        done.job.get("--service", "nightly-report")
        == app_yaml(done.calls)["service"]
        == "nightly-report"
    )
    address = "https://nightly-report-dot-my-project.uc.r.appspot.com"
    assert done.root == (address if "--uri" in done.job else "://")


def test_secrets_are_fetched_before_the_service_starts(deployed: Deploy) -> None:
    done = deployed()
    fetching = re.match(r"python3 -m app\.secrets ", app_yaml(done.calls)["entrypoint"])
    assert bool(fetching) is bool(done.service.secrets)
    assert not [
        name for name in done.service.secrets if name in app_yaml(done.calls)["env_variables"]
    ]


def test_without_a_default_service_nothing_is_deployed(tmp_path: Path) -> None:
    said = stopped(tmp_path, THERE="nothing")
    assert "no service named default" in said
    assert "build and deploy" not in said


def test_an_app_elsewhere_is_not_taken(tmp_path: Path) -> None:
    said = stopped(tmp_path, APP_PLACE="europe-west")
    assert "the App Engine app is in europe-west, for good" in said
    assert "another Google Cloud project" in said
