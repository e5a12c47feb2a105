"""What a service has around it on one machine: a module for each kind that needs anything."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from app import defaults
from dev.plan import SCENARIOS, Scenario


@dataclass(frozen=True)
class Surroundings:
    """What there is, and how to make trouble there.

    Attributes:
        environ: The settings that lead the service to it.
        executions: Tells how often the run of a `run_id` was started there; None where the service
            does the work itself.
        expect: Makes the next start suffer the `trouble` of a scenario.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    executions: Callable[[str], int] | None = None
    expect: Callable[[str], None] = lambda trouble: None


@contextmanager
def surroundings(kind: str = defaults.KIND) -> Iterator[Surroundings]:
    """Provide what is around a service of that kind while the context lasts."""
    module = _module(kind)
    if module is None:
        yield Surroundings()
    else:
        with module.surroundings() as around:
            yield around


def setting(kind: str = defaults.KIND) -> str:
    """Return the variable that leads a service of that kind to what is really around it, or ""."""
    return str(getattr(_module(kind), "SETTING", ""))


def scenarios(kind: str = defaults.KIND) -> tuple[Scenario, ...]:
    """Return what can be played with a service of that kind."""
    own: tuple[Scenario, ...] = getattr(_module(kind), "SCENARIOS", ())
    return (*SCENARIOS, *own)


def _module(kind: str) -> ModuleType | None:
    known = {module.name for module in iter_modules(__path__)}
    return import_module(f"{__name__}.{kind}") if kind in known else None
