"""What one request says about itself: which job, which scheduled run, which scope (R01-R06, R08).

Everything here is pure. A delivery is what Cloud Scheduler sent; a run is what it stands for. Many
deliveries can stand for one run, and `run_id` is equal for exactly those.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

Headers = Mapping[str, tuple[str, ...]]
"""Header names in lower case, each with all its values in the order in which they came."""

Query = Mapping[str, tuple[str, ...]]
"""Query parameters, each with all its values."""

JOB_NAME: Final = "X-CloudScheduler-JobName"
SCHEDULE_TIME: Final = "X-CloudScheduler-ScheduleTime"

FORCED_MARGIN: Final = timedelta(seconds=10)
"""A schedule time further ahead than this belongs to a forced run (R06)."""

_JOB_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,500}")
_PROJECT: Final = re.compile(r"[A-Za-z0-9:.-]{1,100}")
_LOCATION: Final = re.compile(r"[a-z0-9-]{1,63}")
_SCOPE_PATH: Final = re.compile(r"/projects/([^/]*)/locations/([^/]*)/?")
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)"
    r"(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d\d):(\d\d))",
    re.ASCII,
)


class BadDelivery(Exception):
    """The request does not say which run it is for. `str()` names the part and the remedy (R04)."""


class JobScope(StrEnum):
    """Where the project and the location of the job come from (R05)."""

    NONE = "none"
    HEADER = "header"
    QUERY = "query"
    PATH = "path"


class Trigger(StrEnum):
    """What made Cloud Scheduler send the delivery (R06)."""

    SCHEDULED = "scheduled"
    FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time, as exact as it was written.

    `moment` is aware, in UTC and cut to microseconds; `text` is the canonical form that goes into
    the key: `YYYY-MM-DDTHH:MM:SS[.fraction without trailing zeros]Z` (R03, R08).
    """

    moment: datetime
    text: str

    @classmethod
    def of(cls, moment: datetime) -> "Instant":
        """Return an aware time as it goes into the key."""
        return cls.parse(moment.isoformat())

    @classmethod
    def parse(cls, written: str) -> "Instant":
        """Read an RFC 3339 time with any offset.

        Raises:
            ValueError: `written` is no RFC 3339 time, or no time that a datetime can hold.
        """
        match = _RFC3339.fullmatch(written)
        if match is None:
            raise ValueError("it is not an RFC 3339 time such as 2026-10-16T12:00:00Z")
        *parts, fraction, zulu, sign, hours, minutes = match.groups()
        if zulu is None and (int(hours) > 23 or int(minutes) > 59):
            raise ValueError(f"there is no offset {sign}{hours}:{minutes}")
        offset = timedelta() if zulu else timedelta(hours=int(hours), minutes=int(minutes))
        year, month, day, hour, minute, second = map(int, parts)
        try:
            local = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
            moment = local + offset if sign == "-" else local - offset
        except (ValueError, OverflowError) as error:
            raise ValueError(f"there is no such time: {error}") from None
        digits = (fraction or "").rstrip("0")
        text = moment.replace(tzinfo=None).isoformat() + ("." + digits if digits else "") + "Z"
        return cls(moment.replace(microsecond=int(digits.ljust(6, "0")[:6])), text)


@dataclass(frozen=True, slots=True)
class Run:
    """What a record is about. `run_id` is its key, the rest is for people.

    `schedule_time` is None for a run that no schedule made. A run with a `payload_sha256` (hex)
    is not the run of a record that has another one.
    """

    run_id: str
    job_name: str
    schedule_time: datetime | None
    project: str
    location: str
    forced: bool
    payload_sha256: str | None = None


class Identity(Protocol):
    """What a request says about itself: which run it stands for."""

    def run(self, service: str, now: datetime, *, separate_forced_runs: bool) -> Run:
        """Return the run of `service` that the request stands for at the aware time `now`."""

    def fields(self) -> dict[str, str]:
        """Return what log lines say about the request."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request of Cloud Scheduler, read and checked.

    `project` and `location` are `""` without a scope.
    """

    job_name: str
    schedule_time: Instant
    project: str
    location: str

    def run(self, service: str, now: datetime, *, separate_forced_runs: bool) -> Run:
        """Return the run; forced runs have keys of their own if they are separate (R06)."""
        trigger = self.trigger(now) if separate_forced_runs else Trigger.SCHEDULED
        return Run(
            run_id=self.run_id(service, trigger),
            job_name=self.job_name,
            schedule_time=self.schedule_time.moment,
            project=self.project,
            location=self.location,
            forced=trigger is Trigger.FORCED,
        )

    def fields(self) -> dict[str, str]:
        """Return the job and the scheduled time."""
        return {"job_name": self.job_name, "schedule_time": self.schedule_time.text}

    def trigger(self, now: datetime) -> Trigger:
        """Tell, at the aware time `now`, a forced run from a scheduled one (R06)."""
        ahead = self.schedule_time.moment - now > FORCED_MARGIN
        return Trigger.FORCED if ahead else Trigger.SCHEDULED

    def run_id(self, service: str, trigger: Trigger) -> str:
        """Return the key of the run: 64 hex digits, equal for each delivery of one run (R08)."""
        return digest(
            "1",
            service,
            self.project,
            self.location,
            self.job_name,
            self.schedule_time.text,
            trigger.value,
        )


def step_token(run_id: str, step: str) -> str:
    """Return the idempotency token of one step of a run: 64 hex digits (R09)."""
    return digest("1", run_id, step)


def read_delivery(headers: Headers, path: str, query: Query, scope: JobScope) -> Delivery:
    """Read what a request says about its run.

    Raises:
        BadDelivery: a header is missing, repeated or malformed, or the scope is (R04, R05).
    """
    job_name = _job_name(_only(headers, JOB_NAME))
    schedule_time = _schedule_time(_only(headers, SCHEDULE_TIME))
    project, location = read_scope(headers, path, query, scope)
    return Delivery(job_name, schedule_time, project, location)


def is_run_path(path: str, scope: JobScope) -> bool:
    """Tell whether runs are delivered to `path`: `/`, and what is below the scope's path (R05).

    A malformed scope path is one too, so that it is refused with its reason instead of a 404.
    """
    return path in ("", "/") or (
        scope is JobScope.PATH and (path == "/projects" or path.startswith("/projects/"))
    )


def shown(value: str) -> str:
    """Return `value` as one short, printable line, to be quoted in messages."""
    return ascii(value if len(value) <= 100 else value[:97] + "...")


def digest(*parts: str) -> str:
    """Return the SHA-256 of the parts as a compact JSON array: 64 hex digits (R08, R09)."""
    array = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(array.encode()).hexdigest()


def _only(headers: Headers, name: str) -> str:
    values = headers.get(name.lower(), ())
    if not values:
        hint = (
            " Cloud Scheduler omits it for schedules in English (every 5 minutes) and for some"
            " forced runs: use a unix-cron schedule."
            if name == SCHEDULE_TIME
            else " Only Cloud Scheduler's requests are accepted here."
        )
        raise BadDelivery(f"The header {name} is missing.{hint}")
    if len(values) > 1:
        raise BadDelivery(f"The header {name} was sent {len(values)} times; send it once.")
    return values[0]


def _job_name(value: str) -> str:
    if _JOB_ID.fullmatch(value) is None:
        raise BadDelivery(
            f"The header {JOB_NAME} is {shown(value)}, which is no job id:"
            " 1 to 500 letters, digits, underscores and hyphens. The header is expected once."
        )
    return value


def _schedule_time(value: str) -> Instant:
    try:
        return Instant.parse(value)
    except ValueError as error:
        raise BadDelivery(
            f"The header {SCHEDULE_TIME} is {shown(value)}: {error}. The header is expected once."
        ) from None


def read_scope(headers: Headers, path: str, query: Query, scope: JobScope) -> tuple[str, str]:
    """Return the project and the location of the caller, `""` without a scope (R05).

    Raises:
        BadDelivery: one of them is missing, repeated or malformed.
    """
    match scope:
        case JobScope.NONE:
            return "", ""
        case JobScope.HEADER:
            project = _scope_value("header X-Job-Project", headers.get("x-job-project", ()))
            location = _scope_value("header X-Job-Location", headers.get("x-job-location", ()))
            names = ("header X-Job-Project", "header X-Job-Location")
        case JobScope.QUERY:
            project = _scope_value("query parameter project", query.get("project", ()))
            location = _scope_value("query parameter location", query.get("location", ()))
            names = ("query parameter project", "query parameter location")
        case JobScope.PATH:
            match = _SCOPE_PATH.fullmatch(path)
            if match is None:
                raise BadDelivery(
                    f"The path is {shown(path)}; this service expects the job's project and"
                    " location in it: /projects/PROJECT/locations/LOCATION."
                )
            project, location = match.groups()
            names = ("path's PROJECT", "path's LOCATION")
    _check(names[0], project, _PROJECT, "1 to 100 letters, digits, colons, dots and hyphens")
    _check(names[1], location, _LOCATION, "1 to 63 lower-case letters, digits and hyphens")
    return project, location


def _scope_value(name: str, values: tuple[str, ...]) -> str:
    if len(values) != 1:
        count = f"was sent {len(values)} times" if values else "is missing"
        raise BadDelivery(
            f"The {name} {count}; this service expects it once, set by the Cloud Scheduler job."
        )
    return values[0]


def _check(name: str, value: str, form: re.Pattern[str], rule: str) -> None:
    if form.fullmatch(value) is None:
        raise BadDelivery(f"The {name} is {shown(value)}; allowed are {rule}.")
