"""The scripts stop before they deploy what cannot work, and say what to do."""

import sys
from pathlib import Path

import pytest

from tests.support.gcloud import Stopped, deploy, parts

CHOSEN = {kind: parts(kind)[0] for kind in ("platform", "store", "auth")}


def stopped(folder: Path, *, installed: bool = True, **environment: str) -> str:
    """Return what is said at the stop."""
    with pytest.raises(Stopped) as caught:
        deploy(folder, CHOSEN, environment, installed=installed)
    said = str(caught.value)
    assert "build and deploy" not in said
    return said


def test_without_the_versions_to_install(tmp_path: Path) -> None:
    assert "make " in stopped(tmp_path, installed=False).splitlines()[-1]


def test_without_the_project_s_python(tmp_path: Path) -> None:
    assert "make install" in stopped(tmp_path, PYTHON=".venv/bin/python")


def test_with_a_scope_that_there_is_not(tmp_path: Path) -> None:
    """R05."""
    said = stopped(tmp_path, JOB_SCOPE="body")
    assert "JOB_SCOPE is 'body'" in said
    assert "none, header, query or path" in said


def test_when_a_crash_would_lose_the_run(tmp_path: Path) -> None:
    """R31."""
    said = stopped(tmp_path, PYTHON=sys.executable, SCHEDULE="* * * * *", LEASE_SECONDS="600")
    assert "A crash could lose the run" in said


def test_when_gcloud_fails(tmp_path: Path) -> None:
    said = stopped(tmp_path, FAILING="services enable")
    assert "PERMISSION_DENIED" in said
    assert "Stopped: could not enable the APIs" in said
    assert "roles/serviceusage.serviceUsageAdmin" in said


def test_when_nobody_can_tell_what_is_there(tmp_path: Path) -> None:
    """Something that is there unseen must not be made a second time."""
    said = stopped(tmp_path, FAILING="iam service-accounts describe")
    assert "could not look" in said
    assert "create the account" not in said
