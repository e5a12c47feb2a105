"""The commands that look at records: `list`, `show`, `stuck`."""

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from app import kinds
from app.dedup.record import Record, Status
from app.dedup.store import Query
from app.records.arguments import Options
from app.records.context import TIMEOUT, Context
from app.records.report import Exit, Mistake, Report, plain, seconds, table, written
from app.records.states import RELEASED, State, asked_by, by_hand, lease_left, time_of

_FIRST = datetime.min.replace(tzinfo=UTC)


def list_records(options: Options, context: Context) -> Report:
    """List the records of a status, a job, a span of time."""
    if options.since and options.until and options.since >= options.until:
        raise Mistake("--since must be before --until")
    query = Query(
        status=Status(options.status) if options.status else None,
        job_name=options.job or None,
    )
    if not kinds.trait("KEY_HEADER"):
        # A store searches by schedule time, and by no other.
        query = replace(query, since=options.since, until=options.until)
    listed = context.store.list(query, timeout=TIMEOUT)
    found = [record for record in _sorted(listed) if _is_within(record, options)]
    rows = [
        (
            written(_whole(time_of(record))),
            record.job_name,
            State.of(record).value,
            asked_by(record),
            written(_whole(record.stamp.at)),
            record.run_id,
        )
        for record in found
    ]
    headings = (*_headings(), "state", "trigger", "last write", "run id")
    return Report(
        {"records": [as_data(record, context) for record in found]},
        "\n".join([*([table(headings, rows)] if rows else []), _count(len(found), context)]),
    )


def show(options: Options, context: Context) -> Report:
    """Show all that the records of a run id or of a schedule time say."""
    found = context.find(options)
    data = [as_data(record, context) for record in found]
    if not found:
        return Report(
            {"records": data}, f"There is no such record in {context.where}.", Exit.SEE_TO
        )
    return Report({"records": data}, "\n\n".join(_page(each, context) for each in found))


def stuck(options: Options, context: Context) -> Report:
    """List the runs that do not go on by themselves."""
    query = Query(job_name=options.job or None)
    listed = context.store.list(query, timeout=TIMEOUT)
    found = [(record, why) for record in _sorted(listed) if (why := _why_stuck(record))]
    headings = (*_headings(), "why", "run id")
    rows = [(written(_whole(time_of(one))), one.job_name, why, one.run_id) for one, why in found]
    return Report(
        {"records": [{**as_data(one, context), "reason": why} for one, why in found]},
        table(headings, rows) if rows else f"Nothing is stuck in {context.where}.",
        Exit.SEE_TO if found else Exit.DONE,
    )


def as_data(record: Record, context: Context) -> dict[str, object]:
    """Return a record for scripts. `state`, `own_key` and `lease_left` (seconds) are derived."""
    return {
        "run_id": record.run_id,
        "state": State.of(record).value,
        "own_key": context.is_own(record),
        "status": record.status.value if record.status else None,
        "attempt_id": record.attempt_id,
        "job_name": record.job_name,
        "schedule_time": written(record.schedule_time),
        "project": record.project,
        "location": record.location,
        "forced": record.forced,
        "claimed_at": written(record.claimed_at),
        "finished_at": written(record.finished_at),
        "result": record.result,
        "payload_sha256": record.payload_sha256,
        "written_at": written(record.stamp.at),
        "lease_seconds": record.lease_seconds,
        "lease_expires": written(record.lease_expires),
        "lease_left": lease_left(record),
        "expire_at": written(record.expire_at),
    }


def _sorted(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda each: (time_of(each) or _FIRST, each.run_id))


def _is_within(record: Record, options: Options) -> bool:
    """Tell whether a record is of the span that was asked for; one without a time is of none."""
    since, until, time = options.since, options.until, time_of(record)
    if time is None:
        return since is None and until is None
    return (since is None or since <= time) and (until is None or time < until)


def _headings() -> tuple[str, str]:
    """Return what the time is, and the name of what was asked for."""
    return ("claimed", "key") if kinds.trait("KEY_HEADER") else ("schedule time", "job")


def _page(record: Record, context: Context) -> str:
    lines = [
        (name.replace("_", " "), value if isinstance(value, str) else json.dumps(value))
        for name, value in as_data(record, context).items()
        if value not in (None, "") and name != "own_key"
    ]
    if not context.is_own(record):
        made = f"not of these fields and SERVICE={context.settings.service}"
        lines.append(
            (
                "key made",
                f"{made}: another service's record, written by hand, or of a time finer than"
                " microseconds",
            )
        )
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name.ljust(width)}  {plain(value)}" for name, value in lines)


def _why_stuck(record: Record) -> str | None:
    if record.is_none:
        return by_hand(record)
    match State.of(record):
        case State.STUCK:
            over = seconds(-record.lease_left())
            gone = (
                "it was released"
                if (record.attempt_id or "").startswith(RELEASED)
                else "its attempt is gone"
            )
            helps = "redo it, unless retries come"
            if kinds.trait("KEY_HEADER"):
                helps = "the next request with its key takes it over"
            return f"{gone}, its lease over for {over}: {helps}"
        case State.UNREADABLE:
            return "its status is unknown: correct it by hand, or release it by --force"
        case State.RUNNING if math.isinf(record.lease_left()):
            return "nothing says when its lease ends: release it by --force"
        case _:
            return None


def _whole(moment: datetime | None) -> datetime | None:
    return moment and moment.replace(microsecond=0)


def _count(count: int, context: Context) -> str:
    return f"{count} record{'' if count == 1 else 's'} in {context.where}."
