"""A proxy has the stand-in of its target, which counts."""

from collections.abc import Iterator
from contextlib import contextmanager

from dev.kinds import Surroundings
from dev.standin import standing_in
from dev.targets import names, open_api


@contextmanager
def surroundings() -> Iterator[Surroundings]:
    """Serve the stand-in of this project's target."""
    with standing_in(open_api(names()[0])) as stand_in:
        yield Surroundings(stand_in.environ, lambda run_id: stand_in.api.starts[run_id])
