"""What the command takes from the environment: where the records are, and whose job it is about."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app import auth, defaults
from app.dedup.delivery import JobScope
from app.environment import Reader


@dataclass(frozen=True, slots=True)
class RecordsSettings:
    """The part of the service's settings that its records depend on; `AUTH` need not be right.

    Attributes:
        service: Name in every key (`SERVICE`, R08).
        run_store_url: Where the records are (`RUN_STORE_URL`).
        job_scope: Where project and location come from (`JOB_SCOPE`, R05).
        separate_forced_runs: Forced runs have keys of their own (`FORCED_RUNS`, R06).
        job_id: Id of the Cloud Scheduler job (`JOB_ID`).
        schedule: Its unix-cron expression (`SCHEDULE`); checked where it is used.
        time_zone: The time zone of that (`TIME_ZONE`); checked where it is used.
        retention: Seconds for which a record is kept (`RETENTION_SECONDS`, R29).
        attempt_deadline: Seconds that a delivery may take (`ATTEMPT_DEADLINE_SECONDS`, R32).
        gcp_project: Project of the job, where its scope needs one (`GOOGLE_CLOUD_PROJECT`).
        checks_caller: Deliveries need a token (`AUTH` is not `off`).
        id_token: The token to deliver with (`ID_TOKEN`), or `""`.
    """

    service: str
    run_store_url: str
    job_scope: JobScope
    separate_forced_runs: bool
    job_id: str
    schedule: str
    time_zone: str
    retention: float
    attempt_deadline: float
    gcp_project: str
    checks_caller: bool
    id_token: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "RecordsSettings":
        """Read the settings from `environ`.

        Raises:
            BadEnvironment: with every error that was found.
        """
        read = Reader(environ)
        settings = cls(
            service=read.service(),
            run_store_url=read.run_store_url(),
            job_scope=read.job_scope(),
            separate_forced_runs=read.separate_forced_runs(),
            job_id=read.text("JOB_ID", defaults.JOB_ID),
            schedule=read.text("SCHEDULE", defaults.SCHEDULE),
            time_zone=read.text("TIME_ZONE", defaults.TIME_ZONE),
            retention=read.retention(),
            attempt_deadline=read.attempt_deadline(),
            gcp_project=read.gcp_project(),
            checks_caller=read.text("AUTH", defaults.AUTH) != auth.OFF,
            id_token=read.text("ID_TOKEN", "", _check_token),
        )
        read.close()
        return settings


def _check_token(value: str) -> str | None:
    return None if re.fullmatch(r"[!-~]*", value) else "is no token; its value is not shown here"
