"""What Terraform changes in app.yaml is what App Engine and the service read."""

import re

import pytest
import yaml

from tests.support.infra import INFRA, blocks

APP_YAML = INFRA.parent / "app.yaml"

pytestmark = pytest.mark.skipif(
    not APP_YAML.exists(), reason="app.yaml belongs to projects for App Engine"
)


def test_service_and_account_are_those_of_app_yaml() -> None:
    """R34: and the service's variables come with them."""
    text = (INFRA / "app_engine.tf").read_text()
    changed = re.findall(r"(?m)^ {6}(\w+) +=", text)
    assert changed == ["service", "service_account"]
    assert set(changed) <= yaml.safe_load(APP_YAML.read_text()).keys()
    assert "merge(local.environment, {" in text


def test_the_job_calls_the_service_of_app_yaml() -> None:
    """R33: by its name, or by its address with a token."""
    job = blocks("job.tf", "google_cloud_scheduler_job")["job"]
    if "http_target" in job:
        assert job["http_target"][0]["uri"] == '"${local.url}${local.job_path}"'
    else:
        (target,) = job["app_engine_http_target"]
        assert target["app_engine_routing"][0]["service"] == "${var.service}"
        assert target["relative_uri"] == "${local.job_path}"
