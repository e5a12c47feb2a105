"""What the tests of the simulator share."""

import pytest


@pytest.fixture(autouse=True)
def goes_by_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a service that goes by Cloud Scheduler's headers, whatever this project is."""
    monkeypatch.setattr("dev.options.trait", lambda name: "")
