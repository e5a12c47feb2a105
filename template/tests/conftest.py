"""Fixtures: each test that asks for a `harness` runs once on every store of this project."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from app.dedup.store import Run, Store, Terms
from tests.support.clock import NOON
from tests.support.stores import HARNESSES, MODULES, Harness

# How fast a machine is fails no test.
hypothesis_settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("unhurried")

pytest_plugins = [f"tests.support.stores.{name}" for name in MODULES]


@pytest.fixture(params=HARNESSES)
def harness(request: pytest.FixtureRequest) -> Harness:
    """A store of this project, empty. `lossy` and `movable` ask for fewer."""
    return cast("Harness", request.getfixturevalue(f"{request.param}_harness"))


@pytest.fixture
def store(harness: Harness) -> Iterator[Store]:
    """One instance's view of the store."""
    opened = harness.open()
    yield opened
    opened.close()


@pytest.fixture
def other(harness: Harness) -> Iterator[Store]:
    """Another instance's view of the same store."""
    opened = harness.open()
    yield opened
    opened.close()


@pytest.fixture
def run() -> Run:
    """A scheduled run."""
    return Run("a" * 64, "nightly", NOON, "my-project", "us-central1", forced=False)


@pytest.fixture
def terms() -> Terms:
    """A lease that no test waits for."""
    return Terms(lease=60.0, retention=172_800.0)


@pytest.fixture
def short() -> Terms:
    """A lease that is soon over."""
    return Terms(lease=0.3, retention=172_800.0)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many lost requests and answers were resolved, of how many that were tried."""
    resolved, tried = Counter[str](), Counter[str]()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, count in report.user_properties:
                tried[name] += count
                resolved[name] += count if outcome == "passed" else 0
    for name, count in sorted(tried.items()):
        terminalreporter.write_line(f"{name}: {resolved[name]} of {count} resolved")
