"""What the guard takes from the environment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.dedup.stores import scheme_of
from app.environment import Reader

_TOKEN: Final = re.compile(r"[!-~]{1,255}")
_TASK: Final = re.compile(r"\d{0,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """What the guard runs with.

    Attributes:
        token: Names the run (`IDEMPOTENCY_TOKEN`).
        task: Number of the task, each of which has work of its own (`CLOUD_RUN_TASK_INDEX`), or
            `""` outside of Cloud Run jobs.
        service: Name in every key (`SERVICE`, R08).
        run_store_url: Where the records are (`RUN_STORE_URL`).
        lease: Seconds (`LEASE_SECONDS`, R18).
        retention: Seconds (`RETENTION_SECONDS`, R29).
        log_level: Lowest level that is logged (`LOG_LEVEL`).
    """

    token: str
    task: str
    service: str
    run_store_url: str
    lease: float
    retention: float
    log_level: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "GuardSettings":
        """Read the settings from `environ`.

        Raises:
            BadEnvironment: with every error that was found.
        """
        read = Reader(environ)
        settings = cls(
            token=read.text("IDEMPOTENCY_TOKEN", "", _check_token),
            task=read.text("CLOUD_RUN_TASK_INDEX", "", _check_task),
            service=read.service(),
            run_store_url=read.run_store_url(),
            lease=read.lease(),
            retention=read.retention(),
            log_level=read.log_level(),
        )
        if scheme_of(settings.run_store_url) == "sqlite" and "CLOUD_RUN_JOB" in environ:
            read.note(
                "RUN_STORE_URL is SQLite, but CLOUD_RUN_JOB is set: the executions of a job do not"
                " share a disk, so each would run the command"
            )
        read.close()
        return settings


def _check_token(value: str) -> str | None:
    if not value:
        return "is not set; it names the run, and whoever starts this container passes it on"
    if _TOKEN.fullmatch(value):
        return None
    return f"has {len(value)} characters; a token is 1 to 255 of printable ASCII without spaces"


def _check_task(value: str) -> str | None:
    return None if _TASK.fullmatch(value) else "is no number; Cloud Run sets it"
