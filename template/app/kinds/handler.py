"""A handler does the work of each run itself, in `app/job.py`."""

from typing import Final

from app.dedup.delivery import read_delivery
from app.environment import Reader
from app.kinds import Kind
from app.kinds.own_job import own_job

SETTLE_TIME: Final = 0.0
"""A run whose attempt has died is taken over as soon as the lease is over."""


def create(read: Reader) -> Kind:
    """Return the handler of Cloud Scheduler's runs."""
    return Kind(read_delivery, own_job(read))
