"""The scripts stop before they deploy a job that could not work, and say what to do."""

import sys
from pathlib import Path

from tests.gcloud.test_stops import stopped


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
