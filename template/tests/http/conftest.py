"""Fixtures: real servers, which all tests of one place share."""

import uuid
from collections.abc import Iterator
from functools import partial

import pytest

from app.dedup.stores import open_store
from tests.support.servers.gates import eventually
from tests.support.servers.places import EMULATED, Place
from tests.support.servers.site import Scheduled, Site
from tests.support.stores.sqlite import locked


@pytest.fixture(scope="session")
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """The servers of one framework on one store; a mark of `places` chooses."""
    place: Place = request.param
    folder = tmp_path_factory.mktemp(f"{place.framework.name}-{place.store}")
    with pytest.MonkeyPatch.context() as environ:
        path = folder / "runs.db"
        url, settings, hanging = f"sqlite:///{path}", {}, partial(locked, path)
        if place.store in EMULATED:
            form, variable = EMULATED[place.store]
            host: str = request.getfixturevalue(f"{place.store}_emulator")
            url = form.format(name=f"runs_{uuid.uuid4().hex}", host=host)
            settings = {variable: host} if variable else {}
            hanging = request.getfixturevalue(f"{place.store}_hanging")
            for name, value in settings.items():
                environ.setenv(name, value)
            open_store(url).init(timeout=30.0)
        opened = Site(place.framework, url, settings, hanging, folder)
        if place.store in EMULATED:
            # An emulator's first calls take seconds, which no test is about.
            eventually("the store is awake", lambda: opened.deliver(Scheduled()).status == 200)
        yield opened
        opened.close()


@pytest.fixture
def run() -> Scheduled:
    """A scheduled run of the test's own."""
    return Scheduled()


@pytest.fixture
def untouched(site: Site) -> Iterator[None]:
    """Prove that the test neither touches a record nor makes a server stumble (R04)."""
    before, logged = site.run_ids(), len(site.server.log())
    yield
    # Work that another test began may go on meanwhile, and ends; it begins nothing.
    assert site.run_ids() <= before
    assert site.server.stumbles(logged) == []
