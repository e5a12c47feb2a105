"""Which run is meant: a job and a schedule time, and the delivery that says both."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from app.dedup.delivery import (
    JOB_NAME,
    SCHEDULE_TIME,
    BadDelivery,
    Delivery,
    Instant,
    JobScope,
    read_delivery,
)
from app.dedup.record import Record
from app.records.report import Mistake, Refused
from app.records.settings import RecordsSettings

RUN_ID: Final = re.compile(r"[0-9a-f]{64}")
"""What a run id looks like (R08)."""


@dataclass(frozen=True, slots=True)
class Job:
    """A Cloud Scheduler job. `project` and `location` are `""` without a scope (R05)."""

    name: str
    project: str
    location: str

    @classmethod
    def of(cls, settings: RecordsSettings, name: str, project: str, location: str) -> "Job":
        """Return the job that is meant, where options (`""`: not given) override the settings.

        Raises:
            Mistake: the scope is incomplete, or there is none.
        """
        if settings.job_scope is JobScope.NONE:
            if project or location:
                raise Mistake("JOB_SCOPE is none, so no key has a --project or a --location")
            return cls(name or settings.job_id, "", "")
        if not location:
            raise Mistake(
                f"JOB_SCOPE is {settings.job_scope}, so each key has the job's project and"
                " location: give --location, and --project if it is not"
                f" {settings.gcp_project}"
            )
        return cls(name or settings.job_id, project or settings.gcp_project, location)

    def options(self, settings: RecordsSettings) -> str:
        """Return the options that say which job it is, where the settings do not."""
        named = {
            "--job": "" if self.name == settings.job_id else self.name,
            "--project": "" if self.project == settings.gcp_project else self.project,
            "--location": self.location,
        }
        return "".join(f" {option} {value}" for option, value in named.items() if value)


@dataclass(frozen=True, slots=True)
class Sent:
    """A delivery as Cloud Scheduler sends it: `path` and `query` come behind the service's URL."""

    headers: dict[str, str]
    path: str
    query: str
    delivery: Delivery

    @classmethod
    def by(cls, job: Job, time: str, scope: JobScope) -> "Sent":
        """Return the delivery of the run of `job` at `time`, which the service would accept.

        Raises:
            Mistake: it would not, because the job's name, its scope or the time is malformed.
        """
        headers = {"X-CloudScheduler": "true", JOB_NAME: job.name, SCHEDULE_TIME: time}
        path, query = "", dict[str, str]()
        match scope:
            case JobScope.HEADER:
                headers |= {"X-Job-Project": job.project, "X-Job-Location": job.location}
            case JobScope.QUERY:
                query = {"project": job.project, "location": job.location}
            case JobScope.PATH:
                path = f"/projects/{job.project}/locations/{job.location}"
        try:
            delivery = read_delivery(
                {name.lower(): (value,) for name, value in headers.items()},
                path,
                {name: (value,) for name, value in query.items()},
                scope,
            )
        except BadDelivery as error:
            raise Mistake(f"such a run cannot be delivered: {error}") from None
        return cls(headers, path, urlencode(query), delivery)

    @classmethod
    def again(cls, record: Record, scope: JobScope) -> "Sent":
        """Return the delivery that a record is about.

        Raises:
            Refused: the record does not say enough, or nothing that the service would accept.
        """
        if record.job_name is None or record.schedule_time is None:
            raise Refused(
                "The record does not say which scheduled run it is about. Name that by its schedule"
                " time; what no schedule made has to be asked for again by whoever did."
            )
        job = Job(record.job_name, record.project or "", record.location or "")
        try:
            return cls.by(job, Instant.of(record.schedule_time).text, scope)
        except Mistake as error:
            raise Refused(str(error)) from None


def is_run_id(run: str) -> bool:
    """Tell a run id from a schedule time.

    Raises:
        Mistake: it is neither.
    """
    if RUN_ID.fullmatch(run):
        return True
    try:
        Instant.parse(run)
    except ValueError as error:
        raise Mistake(
            f"{run!a} is neither a run id (64 hex digits) nor a schedule time: {error}"
        ) from None
    return False
