"""Fixtures: the command and the service on every store, and a run that is due."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from app.dedup.store import Run
from tests.support.command import Command, run_at
from tests.support.served import Served, served
from tests.support.stores import Harness
from tests.support.work import Work


@pytest.fixture(autouse=True)
def goes_by_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be the command of a service that goes by a schedule, whatever this project is."""
    monkeypatch.setattr("app.kinds.trait", lambda name: "")


@pytest.fixture
def command(harness: Harness, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command on a store of this project, empty."""
    return Command(harness, capsys)


@pytest.fixture
def due(harness: Harness) -> datetime:
    """A schedule time of an hour ago, by the store's clock."""
    return harness.now().replace(second=0, microsecond=0) - timedelta(hours=1)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def service(harness: Harness, work: Work) -> Iterator[Served]:
    """The service on the same store, over HTTP."""
    with served(harness, work) as running:
        yield running


@pytest.fixture
def run(due: datetime) -> Run:
    return run_at(due)
