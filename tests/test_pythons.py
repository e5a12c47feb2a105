"""Each supported Python runs a generated project's tests, with the versions resolved for it."""

import sys
from pathlib import Path

import pytest

from tests.environments import Uv
from tests.rendering import render, run
from tests.test_examples import LOCAL, RECOMMENDED, answers_of

NEWEST = "3.13"

OTHERS = [
    version
    for version in ("3.11", "3.12")
    if version != f"{sys.version_info.major}.{sys.version_info.minor}"
]
"""The Pythons but for the newest, with which `test_fresh_machine` runs all of these tests, and the
one that runs this, and all of them in place."""

LEFT_OUT = (
    "tests/conformance/test_races.py",  # what SQLite or a server decides
    "tests/gcloud",  # shell scripts, which call gcloud
    "tests/http/test_hanging_store.py",  # waits for a store's time limits
    "tests/http/test_simulator.py",  # waits for leases; what it sees, others see without waiting
    "tests/records/test_missed.py",  # sums over days of schedules
    "tests/test_cold_start.py",  # which modules of the project's own are imported
    "tests/test_retry_budget.py",  # sums of whole seconds, over thousands of schedules
)
"""What takes long, and is the same for every Python."""

NAMES = f"{LOCAL} and not conditional"
"""The tests on SQLite, but not once more on the store in memory that has the rules alone."""


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_runs_the_tests_of_the_recommended_profile(
    template: Path, uv: Uv, tmp_path: Path, version: str
) -> None:
    python = uv.python(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    project = render(template, tmp_path / "project", answers_of(RECOMMENDED))
    environment = tmp_path / "environment"
    uv.run("sync", "--python", python, folder=project, UV_PROJECT_ENVIRONMENT=str(environment))
    there = environment / "bin" / "python"
    uv.run("pip", "install", "--python", there, "pytest-xdist")
    left_out = [f"--ignore={path}" for path in LEFT_OUT]
    assert all((project / path).exists() for path in LEFT_OUT)
    options = ("-q", "-n", "2", "-p", "no:cacheprovider", "-k", NAMES)
    run(project, "pytest", *options, *left_out, python=there)
