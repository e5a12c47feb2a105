"""What a service of this project's kind has around it on one machine."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module

from app import defaults


@dataclass(frozen=True)
class Surroundings:
    """The settings that lead the service to what is around it.

    `executions` tells how often the run of a `run_id` was started there, None where the service
    does the work itself.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    executions: Callable[[str], int] | None = None


@contextmanager
def surroundings(kind: str = defaults.KIND) -> Iterator[Surroundings]:
    """Provide what is around a service of that kind while the context lasts."""
    with import_module(f"{__name__}.{kind}").surroundings() as around:
        yield around
