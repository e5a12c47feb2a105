"""The command line of the local Cloud Scheduler, checked as a whole."""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from app import defaults
from app.backoff import RetryConfig
from app.kinds import job_body, settle_time, trait
from app.retry_budget import MOST_RETRIES, NoBudget, Times, retry_config
from app.schedule import parse_zone, past_times, shortest_interval
from dev.delivery import JobScope, Target
from dev.kinds import scenarios
from dev.plan import KILLS, Fault, Scenario
from dev.values import header, seconds, whole

JOB_SCOPES = ("none", "header", "query", "path")
SHORTEST_LEASE_SECONDS = 5
SHORTEST_DEADLINE_SECONDS = 15

_EPILOG = """\
Without options it starts the server with a fresh SQLite store and plays what doubles or loses runs:
{}. The exit status is 0 if each run was completed exactly once, 1 if one was not, 2 if the
simulation could not start.
"""


@dataclass(frozen=True)
class Options:
    """A checked command line. `target.url` is empty if the server is to be started here."""

    target: Target
    retry: RetryConfig
    schedule: str
    zone: ZoneInfo
    scenarios: tuple[Scenario, ...]
    runs: int
    copies: int
    faults: tuple[Fault, ...]
    forced: bool
    forced_separate: bool
    real_time: bool
    lease: int
    svg: Path | None


def parse(argv: Sequence[str], environ: Mapping[str, str], now: datetime) -> Options:
    """Read the command line; `environ` overrides the defaults as it does for the server.

    Raises:
        SystemExit: with status 2, after a message that says what is wrong.
    """
    parser = _parser(environ)
    given = parser.parse_args(argv)
    try:
        return _options(given, environ, now)
    except ValueError as error:
        parser.error(str(error))


def _parser(environ: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dev.scheduler",
        usage="%(prog)s [options]",
        description="A local Cloud Scheduler: real requests, retries, and faults on demand.",
        epilog=_EPILOG.format(", ".join(each.name for each in _possible() if each.by_default)),
    )
    what = parser.add_argument_group("what to play")
    names = [scenario.name for scenario in _possible()]
    what.add_argument(
        "--scenario",
        action="append",
        choices=["all", *names],
        metavar="NAME",
        help=f"all, {', '.join(names)}; may be repeated",
    )
    what.add_argument("--runs", type=whole(1), metavar="N", help="N runs of the schedule instead")
    what.add_argument("--duplicates", type=whole(1), metavar="N", help="deliver each N times")
    what.add_argument("--lost-answer", action="store_true", help="drop each answer unread, once")
    what.add_argument("--late-answer", action="store_true", help="finish after the deadline, once")
    what.add_argument(
        "--kill",
        action="append",
        choices=[fault.value for fault in KILLS],
        metavar="POINT",
        help="kill -9 the server and restart it: after-claim, in-job, before-finish; may be"
        " repeated",
    )
    parser.set_defaults(forced=False)
    if _has_schedule():
        help_forced = "force a run before a scheduled one"
        what.add_argument("--forced", action="store_true", help=help_forced)
    what.add_argument("--svg", type=Path, metavar="FILE", help="save the output as a picture")

    job = parser.add_argument_group("the job")
    job.add_argument("--url", default="", help="a server that is running already")
    job.add_argument(
        "--job", metavar="ID", help="its id; for a running server with a suffix, to be new to it"
    )
    job.add_argument(
        "--schedule",
        default=environ.get("SCHEDULE", defaults.SCHEDULE or "*/15 * * * *"),
        metavar="CRON",
        help="unix-cron (%(default)s)",
    )
    job.add_argument(
        "--time-zone",
        default=environ.get("TIME_ZONE", defaults.TIME_ZONE),
        metavar="ZONE",
        help="time zone of the schedule (%(default)s)",
    )
    job.add_argument(
        "--real-time", action="store_true", help="wait for the next times, instead of past ones"
    )
    job.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="a header of the job; may be repeated",
    )
    file = trait("BODY_FILE")
    own = f"{file}, as application/json" if file else "none"
    job.add_argument("--body", metavar="TEXT", help=f"the job's body ({own})")
    job.add_argument(
        "--content-type", metavar="TYPE", help=f"type of such a body ({Target.content_type})"
    )
    job.add_argument(
        "--job-scope",
        choices=JOB_SCOPES,
        default=environ.get("JOB_SCOPE", defaults.JOB_SCOPE),
        metavar="PLACE",
        help="where the job tells its scope: none, header, query, path (%(default)s)",
    )
    job.add_argument("--project", default=Target.project, metavar="ID", help="(%(default)s)")
    job.add_argument("--location", default=Target.location, metavar="ID", help="(%(default)s)")

    times = parser.add_argument_group("attempts; times in seconds")
    deadline = environ.get("ATTEMPT_DEADLINE_SECONDS", str(defaults.ATTEMPT_DEADLINE_SECONDS))
    for name, kind, default, help_text in (
        ("--lease", whole(SHORTEST_LEASE_SECONDS), None, f"{SHORTEST_LEASE_SECONDS}"),
        ("--attempt-deadline", seconds, deadline, "%(default)s"),
    ):
        times.add_argument(name, type=kind, default=default, metavar="N", help=f"({help_text})")
    retries = parser.add_argument_group(
        "retries; times in seconds",
        "those that `python -m dev.budget` would derive for this lease and, but in --real-time,"
        f" attempts of {SHORTEST_DEADLINE_SECONDS} s; or with any of these:",
    )
    for name, kind, help_text in (
        ("--retry-count", int, "0 to 5; 5"),
        ("--max-retry-duration", seconds, "0 is no limit; 0"),
        ("--min-backoff", seconds, "5"),
        ("--max-backoff", seconds, "3600"),
        ("--max-doublings", int, "5"),
    ):
        retries.add_argument(name, type=kind, metavar="N", help=f"({help_text})")
    return parser


def _options(given: argparse.Namespace, environ: Mapping[str, str], now: datetime) -> Options:
    faults = _faults(given)
    own_plan = bool(given.runs or given.duplicates or faults or given.forced or given.real_time)
    if given.scenario and own_plan:
        raise ValueError("--scenario brings its own runs and faults; leave the other options out")
    chosen = () if own_plan else _scenarios(given.scenario, running=bool(given.url))
    if given.url:
        _check_running(given, faults, chosen)
    if given.attempt_deadline <= 0:
        raise ValueError("--attempt-deadline must be more than 0")
    zone = parse_zone(given.time_zone)
    past_times(given.schedule, zone, now, 1)
    body, content_type = _body(given)
    return Options(
        target=Target(
            key_header=trait("KEY_HEADER"),
            url=given.url,
            job=given.job or environ.get("JOB_ID", defaults.JOB_ID),
            deadline=given.attempt_deadline,
            headers=tuple(header(text) for text in given.header),
            body=None if body is None else body.encode(),
            content_type=content_type,
            job_scope=cast(JobScope, given.job_scope),
            project=given.project,
            location=given.location,
        ),
        retry=_retry(given, zone, now),
        schedule=given.schedule,
        zone=zone,
        scenarios=chosen,
        runs=given.runs or 1,
        copies=given.duplicates or 1,
        faults=faults,
        forced=given.forced,
        forced_separate=environ.get("FORCED_RUNS", defaults.FORCED_RUNS) == "separate",
        real_time=given.real_time,
        lease=given.lease or SHORTEST_LEASE_SECONDS,
        svg=given.svg,
    )


def _body(given: argparse.Namespace) -> tuple[str | None, str]:
    """Return the body and its content type: those of the job where nothing else is asked for."""
    if given.body is None and (body := job_body()) is not None:
        return body, given.content_type or "application/json"
    return given.body, given.content_type or Target.content_type


def _retry(given: argparse.Namespace, zone: ZoneInfo, now: datetime) -> RetryConfig:
    """Return the retry settings of the command line, or those of a job with this schedule."""
    names = ("min_backoff", "max_backoff", "max_doublings", "max_retry_duration")
    chosen = {name: value for name in names if (value := getattr(given, name)) is not None}
    if chosen or given.retry_count is not None:
        count = MOST_RETRIES if given.retry_count is None else given.retry_count
        return RetryConfig(count, **chosen)
    # As with the lease: to be quick, the retries are those of short attempts.
    quick = not given.real_time
    deadline = SHORTEST_DEADLINE_SECONDS if quick else math.ceil(given.attempt_deadline)
    times = Times(
        attempt_deadline=deadline,
        request_timeout=deadline,
        lease=given.lease or SHORTEST_LEASE_SECONDS,
        interval=shortest_interval(given.schedule, zone, now).total_seconds(),
        settle=settle_time(defaults.KIND),
    )
    try:
        return retry_config(times)
    except NoBudget as error:
        raise ValueError(f"{error} Or give the retries by --retry-count and the like.") from error


def _faults(given: argparse.Namespace) -> tuple[Fault, ...]:
    """Order the faults so that each attempt can still suffer the next one."""
    kills = tuple(Fault(point) for point in given.kill or ())
    late = (Fault.LATE_ANSWER,) if given.late_answer else ()
    lost = (Fault.LOST_ANSWER,) if given.lost_answer else ()
    return kills + late + lost


def _has_schedule() -> bool:
    """Tell whether a schedule names the runs, which then can be forced ahead of it."""
    return not trait("KEY_HEADER")


def _possible() -> list[Scenario]:
    """Return what can be played with this service."""
    return [each for each in scenarios() if _has_schedule() or not each.forced]


def _scenarios(names: Sequence[str] | None, *, running: bool) -> tuple[Scenario, ...]:
    possible = [each for each in _possible() if not (running and each.needs_server_control)]
    if names is None:
        return tuple(each for each in possible if each.by_default)
    if "all" in names:
        return tuple(possible)
    return tuple(each for each in _possible() if each.name in names)


def _check_running(
    given: argparse.Namespace, faults: Sequence[Fault], chosen: Sequence[Scenario]
) -> None:
    parts = urlsplit(given.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"--url must be an http or https address, not {given.url!r}")
    refused = [fault.value for fault in faults]
    refused += [scenario.name for scenario in chosen if scenario.needs_server_control]
    if refused:
        raise ValueError(
            f"{', '.join(refused)}: this takes the server's log and its life; leave --url out"
            " to have the server started here"
        )
    if given.lease:
        raise ValueError("--lease is for a server that is started here, not for --url")
