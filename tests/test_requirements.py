"""requirements.txt, which buildpacks that do not read uv.lock install from."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.rendering import clean_environment, render


@pytest.mark.slow
def test_says_what_the_service_needs_and_nothing_else(template: Path, tmp_path: Path) -> None:
    """Each version with its hashes, so that App Engine installs what was tested."""
    project = render(template, tmp_path / "project", {"platform": "app-engine"})
    made = subprocess.run(
        ["make", "requirements.txt"],
        cwd=project,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    text = (project / "requirements.txt").read_text()
    names = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
    assert {"cronsim", "flask", "google-cloud-firestore", "gunicorn"} <= set(names)
    assert {"mypy", "pytest", "pyyaml", "ruff"}.isdisjoint(names)
    assert text.count("--hash=") >= len(names)
    assert "-e ." not in text
