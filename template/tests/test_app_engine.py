"""app.yaml asks App Engine for what the service trusts and needs (R12, R32, R33)."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app import defaults
from app.dedup.delivery import JobScope, is_run_path
from dev.serve import web_command

ROOT = Path(__file__).parent.parent
APP_YAML = ROOT / "app.yaml"
AUTOMATIC_SCALING_SECONDS = 600
RUN_PATHS = ["/", "", "//", "/projects/p/locations/l", "/projects/", "/health/", "/healthx", "/x"]

pytestmark = pytest.mark.skipif(
    not APP_YAML.exists(), reason="app.yaml belongs to projects for App Engine"
)


@pytest.fixture
def app() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(APP_YAML.read_text(encoding="utf-8"))
    return loaded


def handler(app: dict[str, Any], path: str) -> dict[str, Any]:
    """The handler that App Engine chooses: the first whose pattern is the whole path."""
    found: dict[str, Any] = next(
        each for each in app["handlers"] if re.fullmatch(each["url"], path or "/")
    )
    return found


@pytest.mark.parametrize("path", RUN_PATHS)
def test_whoever_has_not_is_refused_by_a_status(app: dict[str, Any], path: str) -> None:
    """R33: a redirect to a login page ends in 200, which Cloud Scheduler takes for success."""
    found = handler(app, path)
    assert "login" not in found or found["auth_fail_action"] == "unauthorized"


@pytest.mark.parametrize("path", RUN_PATHS)
def test_whoever_may_start_runs_has_been_checked(app: dict[str, Any], path: str) -> None:
    """R33: by App Engine on every path but `/health`, or by the service."""
    needed = "admin" if defaults.AUTH == "app-engine" else None
    assert handler(app, path).get("login") == needed


def test_the_paths_of_runs_are_among_them() -> None:
    """R05."""
    scoped = [path for path in RUN_PATHS if is_run_path(path, JobScope.PATH)]
    assert {"/", "/projects/p/locations/l"} <= set(scoped)


def test_health_is_open(app: dict[str, Any]) -> None:
    """R33."""
    assert "login" not in handler(app, "/health")


def test_nothing_goes_unencrypted(app: dict[str, Any]) -> None:
    assert {each["secure"] for each in app["handlers"]} == {"always"}


def test_the_scaling_gives_an_attempt_its_time(app: dict[str, Any]) -> None:
    """R32."""
    long = defaults.ATTEMPT_DEADLINE_SECONDS > AUTOMATIC_SCALING_SECONDS
    assert ("basic_scaling" in app, "automatic_scaling" in app) == (long, not long)
    assert app["instance_class"][0] == ("B" if long else "F")


def test_the_server_is_the_one_of_the_procfile(app: dict[str, Any]) -> None:
    command = app["entrypoint"].removeprefix("python3 -m app.secrets ")
    assert command == web_command((ROOT / "Procfile").read_text(encoding="utf-8"))


def test_the_service_has_its_own_name_and_account(app: dict[str, Any]) -> None:
    """R08, R34: or the account would be one that may edit the whole project."""
    assert app["service"] == defaults.SERVICE
    assert re.fullmatch(r"[a-z0-9-]{6,30}@.*\.iam\.gserviceaccount\.com", app["service_account"])
