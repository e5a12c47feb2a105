"""What the tests of deployment files share."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def terraform() -> str:
    """The path of Terraform; without it, its tests are skipped, and fail where it is required."""
    path = shutil.which("terraform")
    if path is None:
        missing = "terraform is not installed"
        if os.environ.get("REQUIRE_STORES"):
            pytest.fail(missing)
        pytest.skip(missing)
    return path
