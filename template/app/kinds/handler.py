"""A handler does the work of each run itself, in `app/job.py`."""

from importlib.util import find_spec

from app.dedup.delivery import read_delivery
from app.environment import Reader
from app.kinds import Kind


def create(read: Reader) -> Kind:
    """Return the handler of Cloud Scheduler's runs."""
    # An update does not write the owner's files, also where the project was of another kind.
    if find_spec("app.job") is None:
        read.errors["app/job.py"] = (
            "app/job.py is missing; write it, with the function run(attempt) that does the work"
        )
    read.close()
    from app import job

    return Kind(read_delivery, job.run)
