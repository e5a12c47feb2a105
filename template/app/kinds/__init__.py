"""What the service is: how a request names its run, and what is run.

Each kind is a module of this package, and a project has the one that it was made with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from app.dedup import JobResult
from app.dedup.delivery import Headers, Identity, JobScope, Query
from app.dedup.runner import Job
from app.environment import Reader


@dataclass(frozen=True, slots=True)
class Kind:
    """How a service takes a request.

    Attributes:
        read: Reads which run a request is for, from its headers, path, query and job scope; raises
            `BadDelivery`.
        run: What is done once per run.
        compares_payload: A later request for the same run has to have the same body.
    """

    read: Callable[[Headers, str, Query, JobScope], Identity]
    run: Job
    compares_payload: bool = False


def open_kind(name: str, read: Reader) -> Kind:
    """Return the kind of that name, with the settings that only it has.

    What is wrong with those is left in `read`, as with all other settings.
    """
    kind: Kind = import_module(f"{__name__}.{name}").create(read)
    return kind


def own_job(read: Reader) -> Job:
    """Return the function of the owner's `app/job.py`.

    If the file is not there, that is left in `read`: an update does not write the owner's files,
    also where the project was of another kind.
    """
    if find_spec("app.job") is None:
        read.errors["app/job.py"] = (
            "app/job.py is missing: write it, with the function `run(attempt)` that does the work"
        )
        return _nothing
    from app import job

    return job.run


def _nothing(attempt: Any) -> JobResult:
    raise NotImplementedError
