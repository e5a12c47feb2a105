"""One delivery: an HTTP request with the headers of Cloud Scheduler, over a real socket."""

import http.client
import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from select import select
from threading import Timer
from typing import Literal
from urllib.parse import SplitResult, urlencode, urlsplit
from zoneinfo import ZoneInfo

JobScope = Literal["none", "header", "query", "path"]

_SCHEDULER_ZONE = ZoneInfo("America/Los_Angeles")


@dataclass(frozen=True)
class Target:
    """The job's HTTP target.

    `deadline` is the attempt deadline in seconds. `project` and `location` are sent as
    `job_scope` says. Without a `body` the request has none, and no content type either. A
    `key_header` is sent in place of Cloud Scheduler's own headers, for a service that goes by it.
    """

    url: str
    job: str
    deadline: float = 180.0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = "application/octet-stream"
    job_scope: JobScope = "none"
    key_header: str = ""
    project: str = "my-project"
    location: str = "us-central1"


@dataclass(frozen=True)
class Answer:
    """What came back: the status, and what the JSON body and the headers say."""

    status: int
    outcome: str = ""
    retry_after: str = ""

    @property
    def success(self) -> bool:
        """Whether Cloud Scheduler counts the attempt as done: any 2xx."""
        return 200 <= self.status <= 299


@dataclass(frozen=True)
class NoAnswer:
    """An attempt without an answer, which Cloud Scheduler counts as failed, and why."""

    reason: Literal["deadline exceeded", "answer lost", "connection broken", "not reachable"]


@dataclass(frozen=True)
class Spelling:
    """One way to write the same headers: the names and the same instant."""

    label: str
    name: Callable[[str], str]
    time: Callable[[datetime], str]


def _in_utc(time: datetime, suffix: str) -> str:
    return time.astimezone(UTC).replace(tzinfo=None).isoformat() + suffix


SPELLINGS: tuple[Spelling, ...] = (
    Spelling("as recorded", str, lambda time: time.astimezone(_SCHEDULER_ZONE).isoformat()),
    Spelling("HTTP/1.1 case, Z", str.title, lambda time: _in_utc(time, "Z")),
    Spelling("HTTP/2 case, fraction", str.lower, lambda time: _in_utc(time, ".000Z")),
    Spelling("upper case, +00:00", str.upper, lambda time: _in_utc(time, "+00:00")),
    Spelling("lower-case t and z", str.lower, lambda time: _in_utc(time, "z").replace("T", "t")),
    Spelling(
        "nine digits, +05:30",
        str.title,
        lambda time: (
            time.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat()[:19]
            + ".000000000+05:30"
        ),
    ),
)
"""Ways in which one run's headers may arrive; the first is what Cloud Scheduler sends.

They write whole seconds, as the times of a unix-cron schedule are.
"""


def request_headers(
    target: Target, schedule_time: datetime, spelling: Spelling, trace: str
) -> dict[str, str]:
    """Return the headers of one delivery. `trace` is its trace id, 32 hex digits."""
    headers = dict(target.headers)
    if target.body is not None:
        headers["Content-Type"] = target.content_type
    if target.job_scope == "header":
        headers |= {"X-Job-Project": target.project, "X-Job-Location": target.location}
    if target.key_header:
        key = run_key(target.job, schedule_time)
        headers[spelling.name(target.key_header)] = key if spelling is SPELLINGS[0] else f'"{key}"'
    else:
        headers |= {
            "User-Agent": "Google-Cloud-Scheduler",
            spelling.name("X-CloudScheduler"): "true",
            spelling.name("X-CloudScheduler-JobName"): target.job,
            spelling.name("X-CloudScheduler-ScheduleTime"): spelling.time(schedule_time),
        }
    return headers | {
        "traceparent": f"00-{trace}-{trace[:16]}-01",
        "X-Cloud-Trace-Context": f"{trace}/{int(trace[:16], 16)};o=1",
    }


def run_key(job: str, schedule_time: datetime) -> str:
    """Return the key of a run for a service that goes by keys; `dev.events` reads it."""
    return f"{job} {_in_utc(schedule_time, 'Z')}"


def request_path(target: Target) -> str:
    """Return the path and query of the request, with the job's scope where it goes there."""
    parts = urlsplit(target.url)
    path, query = parts.path or "/", parts.query
    if target.job_scope == "path":
        path = f"{path.rstrip('/')}/projects/{target.project}/locations/{target.location}"
    if target.job_scope == "query":
        scope = urlencode({"project": target.project, "location": target.location})
        query = f"{query}&{scope}" if query else scope
    return f"{path}?{query}" if query else path


def send(
    target: Target,
    headers: Mapping[str, str],
    *,
    lose_answer: Callable[[], bool] = lambda: False,
) -> Answer | NoAnswer:
    """POST to the target and wait for the answer until the attempt deadline.

    `lose_answer` is asked once the answer has begun to arrive. If it says yes, the connection is
    closed with the answer unread.
    """
    connection = _connection(urlsplit(target.url), target.deadline)
    connected = expired = False

    def expire() -> None:
        nonlocal expired
        expired = True
        with suppress(OSError, AttributeError):  # answered, and so closed, a moment ago
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = Timer(target.deadline, expire)
    timer.daemon = True
    try:
        timer.start()
        connection.connect()
        connected = True
        connection.request("POST", request_path(target), target.body or b"", dict(headers))
        select([connection.sock], [], [], target.deadline)
        if not expired and lose_answer():
            return NoAnswer("answer lost")
        response = connection.getresponse()
        return _read(response)
    except (OSError, http.client.HTTPException):
        if expired:
            return NoAnswer("deadline exceeded")
        return NoAnswer("connection broken" if connected else "not reachable")
    finally:
        timer.cancel()
        connection.close()


def _connection(parts: SplitResult, deadline: float) -> http.client.HTTPConnection:
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=deadline)


def _read(response: http.client.HTTPResponse) -> Answer:
    try:
        body = json.loads(response.read())
    except ValueError:
        body = None
    outcome = body.get("outcome") if isinstance(body, dict) else None
    return Answer(response.status, str(outcome or ""), response.getheader("Retry-After", ""))
