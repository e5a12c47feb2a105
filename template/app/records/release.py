"""`release`: take a run from its attempt."""

import secrets

from app import kinds
from app.dedup.record import Record
from app.dedup.store import Claimed, Run, StoreError, Terms
from app.records.arguments import Options
from app.records.context import TIMEOUT, Context
from app.records.reading import as_data
from app.records.report import CHANGED, Exit, Refused, Report
from app.records.states import RELEASED, State, by_hand, lease_of, name_of, trigger_of


def release(options: Options, context: Context) -> Report:
    """Take a run from its attempt, so that the next delivery takes it over.

    The record is deleted as it was read, and claimed anew with a lease that is over at once: the
    old attempt loses its claim, and the next one still knows that it may find work half done (R13).
    """
    found = context.find(options)
    if not found:
        return Report(
            _data(None, context, dry_run=options.dry_run),
            f"There is no such record in {context.where}.",
            Exit.SEE_TO,
        )
    if len(found) > 1:
        ids = " and ".join(f"{one.run_id} ({trigger_of(one)})" for one in found)
        raise Refused(f"Two runs have this schedule time; name one by its run id: {ids}")
    (record,) = found
    data = _data(record, context, dry_run=options.dry_run)
    _check(record, force=options.force)
    if options.dry_run:
        return Report(data, f"Would release {name_of(record)}.")
    if not context.store.delete(record, timeout=TIMEOUT):
        raise Refused(CHANGED)
    marked = _mark(record, context)
    knows = "takes it over" if marked else "runs it without knowing that it was begun before"
    return Report(
        {**data, "released": True, "recovered": marked},
        f"Released {name_of(record)}. The next delivery {knows}.",
    )


def _data(record: Record | None, context: Context, *, dry_run: bool) -> dict[str, object]:
    return {
        "run_id": record.run_id if record else None,
        "record": as_data(record, context) if record else None,
        "dry_run": dry_run,
        "released": False,
        "recovered": False,
    }


def _check(record: Record, *, force: bool) -> None:
    state = State.of(record)
    if record.is_none:
        raise Refused(by_hand(record))
    if state.final:
        key = kinds.trait("KEY_HEADER")
        again = f"under a new {key} it is asked for again" if key else "`redo` does it again"
        raise Refused(f"{name_of(record)} has ended as {state}; {again}.")
    if state is State.RUNNING and not force:
        raise Refused(f"{name_of(record)} is being done: {lease_of(record)}. --force releases it.")
    if state is State.UNREADABLE and not force:
        raise Refused(f"{name_of(record)} has an unknown status; --force deletes its record.")


def _mark(record: Record, context: Context) -> bool:
    """Leave word that the run was begun; False if that was not possible."""
    if record.status is None or not record.job_name:
        return False
    run = Run(
        record.run_id,
        record.job_name,
        record.schedule_time,
        record.project or "",
        record.location or "",
        forced=bool(record.forced),
        payload_sha256=record.payload_sha256,
    )
    terms = Terms(lease=0.0, retention=context.settings.retention)
    attempt_id = RELEASED + secrets.token_hex(8)
    try:
        answer = context.store.claim(run, attempt_id, terms, timeout=TIMEOUT)
    except StoreError:
        return False
    return isinstance(answer, Claimed)
