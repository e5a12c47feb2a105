"""What the service is: how a request names its run, and what is run.

Each kind is a module of this package, and a project has the one that it was made with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from app import defaults
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
        settle: So many seconds beyond its lease the run of a dead attempt is left alone (R22).
    """

    read: Callable[[Headers, str, Query, JobScope], Identity]
    run: Job
    compares_payload: bool = False
    settle: float = 0.0


def open_kind(name: str, read: Reader) -> Kind:
    """Return the kind of that name, with the settings that only it has; this ends `read`.

    Raises:
        BadEnvironment: with every error that `read` has found.
    """
    kind: Kind = import_module(f"{__name__}.{name}").create(read)
    return kind


def settle_time(name: str) -> float:
    """Return the seconds beyond a lease for which that kind leaves a run alone (R22, R31)."""
    seconds: float = import_module(f"{__name__}.{name}").SETTLE_TIME
    return seconds


def trait(name: str) -> str:
    """Return a text that the module of this project's kind has under a name, `""` if it has none.

    KEY_HEADER is the header that names a run where no schedule does, TRIGGER what its key has in
    place of a trigger. BODY_FILE is the file with what the Cloud Scheduler job sends, in JSON.
    """
    return str(getattr(import_module(f"{__name__}.{defaults.KIND}"), name, ""))


def job_body() -> str | None:
    """Return the JSON that the Cloud Scheduler job sends, None where no file here says what.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    name = trait("BODY_FILE")
    if not name or not Path(name).is_file():
        return None
    return Path(name).read_text(encoding="utf-8").strip()
