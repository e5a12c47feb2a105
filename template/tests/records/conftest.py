"""Fixtures: the command on every store, and the moment of a run that is due."""

from datetime import datetime, timedelta

import pytest

from tests.support.command import Command
from tests.support.stores import Harness


@pytest.fixture
def command(harness: Harness, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command on a store of this project, empty."""
    return Command(harness, capsys)


@pytest.fixture
def due(harness: Harness) -> datetime:
    """A schedule time of an hour ago, by the store's clock."""
    return harness.now().replace(second=0, microsecond=0) - timedelta(hours=1)
