"""`missed`: the scheduled times of the job, minus the runs that were completed (R40).

A forced run never counts for the scheduled one, as it has a key of its own (R06).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from app.dedup.delivery import Trigger
from app.records.arguments import Options
from app.records.context import TIMEOUT, Context
from app.records.report import Exit, Mistake, Report, table, written
from app.records.runs import Job, Sent
from app.records.states import State
from app.schedule import is_repeated, parse_zone, times_between

NO_RECORD = "no_record"
"""State of a run that was never claimed, or whose claim was released."""


_MOST_TIMES: Final = 100_000
"""Scheduled times that are looked up at once, in some hundred calls of the store."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A scheduled run that is not completed, and what its record says."""

    time: datetime
    run_id: str
    state: str


def missed(options: Options, context: Context) -> Report:
    """List the scheduled runs of a span of time that were never completed."""
    settings = context.settings
    job = Job.of(settings, options.job, options.project, options.location)
    since, until = _span(options, context)
    try:
        zone = parse_zone(settings.time_zone)
    except ValueError as error:
        raise Mistake(f"TIME_ZONE: {error}") from None
    try:
        between = times_between(settings.schedule, zone, since, until)
        times = [*islice(between, _MOST_TIMES + 1)]
    except ValueError as error:
        raise Mistake(f"SCHEDULE: {error}") from None
    if len(times) > _MOST_TIMES:
        raise Mistake(
            f"there are more than {_MOST_TIMES} scheduled times from {written(since)} to"
            f" {written(until)}; look at fewer at once: --since {written(since)}"
            f" --until {written(times[-1])}"
        )
    found = _not_completed(context, job, times)
    rows = [
        {
            "schedule_time": written(run.time),
            "local_time": run.time.astimezone(zone).isoformat(),
            "repeated": is_repeated(run.time, zone),
            "state": run.state,
            "run_id": run.run_id,
        }
        for run in found
    ]
    return Report(
        {
            "job_name": job.name,
            "project": job.project,
            "location": job.location,
            "schedule": settings.schedule,
            "time_zone": settings.time_zone,
            "since": written(since),
            "until": written(until),
            "expected": len(times),
            "missed": rows,
        },
        _text(found, len(times), zone, f"{job.name}, {settings.schedule} in {zone.key}"),
        Exit.SEE_TO if rows else Exit.DONE,
    )


def _span(options: Options, context: Context) -> tuple[datetime, datetime]:
    """Return the span to look at, which ends now at the latest."""
    now = options.now
    since, until = options.since or now, min(options.until or now, now)
    kept = timedelta(seconds=context.settings.retention)
    if now - since > kept:
        raise Mistake(
            f"records are kept for {context.settings.retention:.0f} s (RETENTION_SECONDS), so of"
            " earlier runs nobody can tell whether they were missed: --since must not be before"
            f" {written(now - kept)}"
        )
    if since >= until:
        raise Mistake("--since must be before --until, and before now")
    return since, until


def _not_completed(context: Context, job: Job, times: list[datetime]) -> list[Missed]:
    """Return the runs of those times that are not completed.

    They are looked up by their keys: a record that a person wrote may not say its time (R17).
    """
    settings = context.settings
    run_ids = {
        Sent.by(job, str(written(time)), settings.job_scope).delivery.run_id(
            settings.service, Trigger.SCHEDULED
        ): time
        for time in times
    }
    records = context.store.get_many(run_ids, timeout=TIMEOUT)
    states = {record.run_id: State.of(record).value for record in records}
    return [
        Missed(time, run_id, state)
        for run_id, time in run_ids.items()
        if (state := states.get(run_id, NO_RECORD)) != State.COMPLETED.value
    ]


def _text(found: list[Missed], expected: int, zone: ZoneInfo, which: str) -> str:
    if not found:
        return f"All {expected} runs were completed: {which}."
    headings = ("schedule time", "local time", "state", "run id")
    rows = [
        (written(run.time), run.time.astimezone(zone).isoformat(), run.state, run.run_id)
        for run in found
    ]
    lines = [
        table(headings, rows),
        f"{len(found)} of {expected} runs were not completed: {which}.",
        "One of them is delivered by: redo SCHEDULE_TIME --url URL",
    ]
    if any(is_repeated(run.time, zone) for run in found):
        lines.append(
            "Some have a local time that came twice, as the clocks were set back: Cloud Scheduler"
            " does not promise to deliver both."
        )
    return "\n".join(lines)
