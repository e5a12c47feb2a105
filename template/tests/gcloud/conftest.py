"""One deployment for all tests that only read what it told gcloud."""

from collections.abc import Callable

import pytest

from tests.support.gcloud import Deployed, deploy, first_parts

Deploy = Callable[..., Deployed]


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Deploy:
    """Deploy with some parts (the others are the chosen ones) and some environment."""
    done = dict[frozenset[tuple[str, str]], Deployed]()

    def once(environment: dict[str, str] | None = None, **answers: str) -> Deployed:
        chosen = first_parts() | answers
        changes = environment or {}
        key = frozenset({*chosen.items(), *changes.items()})
        if key not in done:
            done[key] = deploy(tmp_path_factory.mktemp("deployed"), chosen, changes)
        return done[key]

    return once
