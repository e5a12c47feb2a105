"""The owner's `app/job.py`, as the kinds take it that do the work themselves."""

from importlib.util import find_spec

from app.dedup.runner import Job
from app.environment import Reader


def own_job(read: Reader) -> Job:
    """Return the function of the owner's `app/job.py`; this ends `read`.

    Raises:
        BadEnvironment: with every error that `read` has found.
    """
    # An update does not write the owner's files, also where the project was of another kind.
    if find_spec("app.job") is None:
        read.errors["app/job.py"] = (
            "app/job.py is missing; write it, with the function run(attempt) that does the work"
        )
    read.close()
    from app import job

    return job.run
