"""Where tests of real servers run: which framework, on which store."""

from dataclasses import dataclass
from importlib import import_module
from typing import Final

import pytest

from tests.support.servers import Framework, frameworks
from tests.support.stores import MODULES

EMULATED: Final = {
    name: import_module(f"tests.support.stores.{name}").PLACE
    for name in MODULES
    if name != "sqlite"
}
"""Store -> URL of a set of records on the host that `<store>_emulator` yields, and the variable
that names that host where the URL does not."""


@dataclass(frozen=True, slots=True)
class Place:
    """A framework on a store."""

    framework: Framework
    store: str


_FRAMEWORKS: Final = frameworks()
_ON_SQLITE: Final = [Place(framework, "sqlite") for framework in _FRAMEWORKS]
# A framework knows nothing of stores, so each of the others is tried under one of them.
_ON_OTHERS: Final = [Place(_FRAMEWORKS[-1], name) for name in EMULATED]


def _at(places: list[Place]) -> pytest.MarkDecorator:
    ids = [f"{place.framework.name}-{place.store}" for place in places]
    return pytest.mark.parametrize("site", places, indirect=True, ids=ids, scope="session")


on_every_framework: Final = _at(_ON_SQLITE)
"""Mark: the test's fixture `site` is one of each framework."""

on_every_store: Final = _at(_ON_SQLITE + _ON_OTHERS)
"""Mark: the test's fixture `site` is one of each framework and one of each store."""
