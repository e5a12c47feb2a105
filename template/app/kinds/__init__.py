"""What the service is: how a request names its run, and what is run.

Each kind is a module of this package, and a project has the one that it was made with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from app.dedup.delivery import Delivery, Headers, JobScope, Query
from app.dedup.runner import Job
from app.environment import Reader


@dataclass(frozen=True, slots=True)
class Kind:
    """How a service takes a request.

    Attributes:
        read: Reads which run a request is for, from its headers, path, query and job scope; raises
            `BadDelivery`.
        run: What is done once per run.
    """

    read: Callable[[Headers, str, Query, JobScope], Delivery]
    run: Job


def open_kind(name: str, read: Reader) -> Kind:
    """Return the kind of that name, with the settings that only it has; this ends `read`.

    Raises:
        BadEnvironment: with every error that `read` has found.
    """
    kind: Kind = import_module(f"{__name__}.{name}").create(read)
    return kind
