"""The command line of the local Cloud Scheduler, checked as a whole."""

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from app import defaults
from dev.backoff import RetryConfig
from dev.delivery import JobScope, Target
from dev.plan import DEFAULT_SCENARIOS, KILLS, Fault, Scenario
from dev.schedule import parse_zone, past_times

JOB_SCOPES = ("none", "header", "query", "path")
SHORTEST_LEASE_SECONDS = 5

_EPILOG = """\
Without options it starts the server with a fresh SQLite store and plays the scenarios that double
or lose runs: duplicates, a lost answer, a crash in the job and a forced run. It exits with 0 if
each run was done exactly once, with 1 if one was done twice or never, with 2 if it could not start.
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
        description="A local Cloud Scheduler: real requests, retries, and faults on demand.",
        epilog=_EPILOG,
    )
    what = parser.add_argument_group("what to play")
    what.add_argument(
        "--scenario",
        action="append",
        choices=["all", *(scenario.value for scenario in Scenario)],
        help="a telling way to go wrong; may be repeated",
    )
    what.add_argument("--runs", type=_whole(1), metavar="N", help="N runs of the schedule instead")
    what.add_argument("--duplicates", type=_whole(1), metavar="N", help="deliver N times at once")
    what.add_argument("--lost-answer", action="store_true", help="drop the connection unread")
    what.add_argument("--late-answer", action="store_true", help="finish after the deadline")
    what.add_argument(
        "--kill",
        action="append",
        choices=[fault.value for fault in KILLS],
        help="kill -9 the server at this point and restart it; may be repeated",
    )
    what.add_argument("--forced", action="store_true", help="force a run before a scheduled one")
    what.add_argument("--svg", type=Path, metavar="FILE", help="save the output as a picture")

    job = parser.add_argument_group("the job")
    job.add_argument("--url", default="", help="a server that is running already")
    job.add_argument("--job", metavar="JOB_ID", help="the job's id")
    job.add_argument(
        "--schedule", default=environ.get("SCHEDULE", defaults.SCHEDULE), help="unix-cron"
    )
    job.add_argument("--time-zone", default=environ.get("TIME_ZONE", defaults.TIME_ZONE))
    job.add_argument("--real-time", action="store_true", help="wait for the scheduled times")
    job.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'")
    job.add_argument("--body", help="the request's body")
    job.add_argument("--content-type", default=Target.content_type)
    job.add_argument(
        "--job-scope",
        choices=JOB_SCOPES,
        default=environ.get("JOB_SCOPE", defaults.JOB_SCOPE),
        help="where the job tells its project and location",
    )
    job.add_argument("--project", default=Target.project)
    job.add_argument("--location", default=Target.location)

    times = parser.add_argument_group("times, in seconds")
    times.add_argument("--lease", type=_whole(SHORTEST_LEASE_SECONDS), metavar="S")
    times.add_argument(
        "--attempt-deadline", type=_seconds, default=defaults.ATTEMPT_DEADLINE_SECONDS, metavar="S"
    )
    times.add_argument("--retry-count", type=int, default=5, metavar="N")
    times.add_argument("--max-retry-duration", type=_seconds, default=0.0, metavar="S")
    times.add_argument("--min-backoff", type=_seconds, default=1.0, metavar="S")
    times.add_argument("--max-backoff", type=_seconds, default=3600.0, metavar="S")
    times.add_argument("--max-doublings", type=int, default=5, metavar="N")
    return parser


def _options(given: argparse.Namespace, environ: Mapping[str, str], now: datetime) -> Options:
    faults = _faults(given)
    own_plan = bool(given.runs or given.duplicates or faults or given.forced or given.real_time)
    if given.scenario and own_plan:
        raise ValueError("--scenario brings its own runs and faults; leave the other options out")
    scenarios = () if own_plan else _scenarios(given.scenario, running=bool(given.url))
    if given.url:
        _check_running(given, faults, scenarios)
    if given.attempt_deadline <= 0:
        raise ValueError("--attempt-deadline must be more than 0")
    zone = parse_zone(given.time_zone)
    past_times(given.schedule, zone, now, 1)
    return Options(
        target=Target(
            url=given.url,
            job=given.job or environ.get("JOB_ID", defaults.JOB_ID),
            deadline=given.attempt_deadline,
            headers=tuple(_header(text) for text in given.header),
            body=None if given.body is None else given.body.encode(),
            content_type=given.content_type,
            job_scope=cast(JobScope, given.job_scope),
            project=given.project,
            location=given.location,
        ),
        retry=RetryConfig(
            given.retry_count,
            given.min_backoff,
            given.max_backoff,
            given.max_doublings,
            given.max_retry_duration,
        ),
        schedule=given.schedule,
        zone=zone,
        scenarios=scenarios,
        runs=given.runs or 1,
        copies=given.duplicates or 1,
        faults=faults,
        forced=given.forced,
        forced_separate=environ.get("FORCED_RUNS", defaults.FORCED_RUNS) == "separate",
        real_time=given.real_time,
        lease=given.lease or SHORTEST_LEASE_SECONDS,
        svg=given.svg,
    )


def _faults(given: argparse.Namespace) -> tuple[Fault, ...]:
    """Order the faults so that each attempt can still suffer the next one."""
    kills = tuple(Fault(point) for point in given.kill or ())
    late = (Fault.LATE_ANSWER,) if given.late_answer else ()
    lost = (Fault.LOST_ANSWER,) if given.lost_answer else ()
    return kills + late + lost


def _scenarios(names: Sequence[str] | None, *, running: bool) -> tuple[Scenario, ...]:
    possible = [name for name in Scenario if not (running and name.needs_server_control)]
    if names is None:
        return tuple(name for name in DEFAULT_SCENARIOS if name in possible)
    if "all" in names:
        return tuple(possible)
    return tuple(Scenario(name) for name in names)


def _check_running(
    given: argparse.Namespace, faults: Sequence[Fault], scenarios: Sequence[Scenario]
) -> None:
    parts = urlsplit(given.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"--url must be an http or https address, not {given.url!r}")
    refused = [fault.value for fault in faults]
    refused += [scenario.value for scenario in scenarios if scenario.needs_server_control]
    if refused:
        raise ValueError(
            f"{', '.join(refused)}: this takes the server's log and its life; leave --url out"
            " to have the server started here"
        )
    if given.lease:
        raise ValueError("--lease is for a server that is started here, not for --url")


def _header(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*)", text)
    if match is None:
        raise ValueError(f"--header must be 'NAME: VALUE', not {text!r}")
    return match[1], match[2]


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more")
        return int(text)

    return whole


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (0 <= seconds < math.inf):
        raise argparse.ArgumentTypeError("must be a number of seconds, 0 or more")
    return seconds
