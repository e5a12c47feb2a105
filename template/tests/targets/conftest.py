"""Fixtures: a proxy between a store and the stand-in of each target of this project."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import targets
from dev.standin import standing_in
from tests.support.stores.sqlite import LossyHarness
from tests.targets.proxied import Proxied


@pytest.fixture(params=targets.names())
def proxied(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Proxied]:
    """A proxy of each target."""
    harness = LossyHarness(tmp_path)
    api = targets.open_api(request.param, lambda: harness.fake.wall)
    with standing_in(api) as stand_in:
        yield Proxied(harness, stand_in)


@pytest.fixture
def searched(proxied: Proxied) -> Proxied:
    """A proxy whose target's API knows no request id."""
    if not proxied.searches:
        pytest.skip("this API keeps a request id itself")
    return proxied
