"""A run that is due, and two instances of the service that it can be delivered to."""

from datetime import datetime, timedelta

import pytest

from tests.support.protocol import Instance
from tests.support.stores import Harness


@pytest.fixture
def due(harness: Harness) -> datetime:
    """The schedule time of a run that is due."""
    return harness.now().replace(microsecond=0) - timedelta(minutes=1)


@pytest.fixture
def one(harness: Harness) -> Instance:
    return Instance(harness)


@pytest.fixture
def two(harness: Harness) -> Instance:
    return Instance(harness)
