"""`python -m dev.budget`: do the job's retries outlast a crash? (R31)."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from app import defaults
from app.backoff import RetryConfig, retry_starts
from app.environment import BadEnvironment, Reader
from app.kinds import settle_time
from app.retry_budget import NoBudget, Times, retry_config, takeover, warning
from app.schedule import parse_zone, shortest_interval

_DESCRIPTION = """\
Derive the retry settings of the Cloud Scheduler job from its schedule, the attempt deadline and the
lease, and show what happens to a run whose attempt dies. The exit status is 1 if a crash could lose
a run, 2 if the settings make no sense.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A job's name and schedule, and the times that its retries depend on."""

    name: str
    schedule: str
    time_zone: str
    times: Times

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], now: datetime) -> "Job":
        """Read a job from the settings; the interval is the shortest of the year after `now`.

        Raises:
            BadEnvironment: with every error that was found.
        """
        read = Reader(environ)
        schedule = read.text("SCHEDULE", defaults.SCHEDULE)
        time_zone = read.text("TIME_ZONE", defaults.TIME_ZONE)
        deadline = read.attempt_deadline()
        timeout, lease = read.request_timeout(deadline), read.lease()
        interval = 0.0
        try:
            zone = parse_zone(time_zone)
            interval = shortest_interval(schedule, zone, now).total_seconds()
        except ValueError as error:
            read.errors["SCHEDULE"] = f"SCHEDULE or TIME_ZONE: {error}"
        read.close()
        name = read.text("JOB_ID", defaults.JOB_ID)
        settle = settle_time(defaults.KIND)
        return cls(name, schedule, time_zone, Times(deadline, timeout, lease, interval, settle))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the budget of the job in the environment; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m dev.budget", description=_DESCRIPTION)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the retry settings alone, as JSON")
    form.add_argument(
        "--flags", action="store_true", help="print them as flags of `gcloud scheduler jobs`"
    )
    options = parser.parse_args(argv)
    try:
        job = Job.from_environ(os.environ, datetime.now(UTC))
        config = retry_config(job.times)
    except BadEnvironment as error:
        print(error, file=sys.stderr)
        return 2
    except NoBudget as error:
        print(f"✗ {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(asdict(config)))
    elif options.flags:
        print(*flags(config))
    else:
        print("\n".join(report(job, config)))
    if text := warning(job.times):
        print(f"! {text}", file=sys.stderr)
    return 0


def flags(config: RetryConfig) -> list[str]:
    """Return the flags of `gcloud scheduler jobs create` and `update` for retry settings."""
    return [
        f"--max-retry-attempts={config.retry_count}",
        f"--min-backoff={config.min_backoff:g}s",
        f"--max-backoff={config.max_backoff:g}s",
        f"--max-doublings={config.max_doublings}",
        f"--max-retry-duration={config.max_retry_duration:g}s",
    ]


def report(job: Job, config: RetryConfig) -> list[str]:
    """Return the lines that say what the retries are and what they make good."""
    times = job.times
    limit, deadline = times.request_timeout, times.attempt_deadline
    starts = [0.0, *retry_starts(config)]
    cases = (
        ("dies at its start", 0.0, 0.0),
        (f"dies after {limit:g} s, at its time limit", limit, deadline),
        (f"loses its connection at once, fails after {limit:g} s", limit, 0.0),
    )
    return [
        f"Retries of {job.name}, {job.schedule} in {job.time_zone}",
        f"  next run        {times.interval:g} s later at the earliest",
        f"  an attempt      {deadline:g} s at most, and a lease of {times.lease:g} s"
        + (f", {times.settle:g} s to settle" if times.settle else ""),
        f"  retries         {config.retry_count}, back-off {config.min_backoff:g} to"
        f" {config.max_backoff:g} s, doubling",
        f"  starts          {', '.join(f'{start:g}' for start in starts)} s, if each fails at once",
        "A first attempt that",
        *(_case(times, config, *case) for case in cases),
    ]


def _case(times: Times, config: RetryConfig, what: str, crashed: float, failed: float) -> str:
    found = takeover(times, config, crashed=crashed, failed=failed)
    if found is None:
        return f"  {what:<50} is not tried again"
    return (
        f"  {what:<50} free at {found.claimable:g} s, taken over by retry {found.retry}"
        f" at {found.start:g} s"
    )


if __name__ == "__main__":
    sys.exit(main())
