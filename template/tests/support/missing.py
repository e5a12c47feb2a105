"""Parts that a machine may lack: their tests are skipped there, and fail where they must run."""

import os
from typing import NoReturn

import pytest


def missing(part: str, reason: str) -> NoReturn:
    """Skip the test, or fail it with `REQUIRE_STORES=1` (CI)."""
    if os.environ.get("REQUIRE_STORES") == "1":
        pytest.fail(f"{part} is required here, but {reason}")
    pytest.skip(f"needs {part}: {reason}")
