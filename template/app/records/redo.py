"""`redo`: deliver a run again, after deleting its record if the run had ended."""

import http.client

from app.dedup.delivery import Delivery, Trigger
from app.dedup.record import Record
from app.records.arguments import Options
from app.records.context import TIMEOUT, Context
from app.records.reading import as_data
from app.records.redelivery import Redelivery, split_url
from app.records.report import CHANGED, Exit, Mistake, Refused, Report, plain
from app.records.runs import Sent, is_run_id
from app.records.states import State, lease_of, name_of


def redo(options: Options, context: Context) -> Report:
    """Deliver a run again with its original headers.

    A run without a record is delivered too, and so is a stuck one, which the delivery takes over.
    """
    if options.url:
        split_url(options.url)
    data: dict[str, object] = {
        "run_id": options.run,
        "record": None,
        "dry_run": options.dry_run,
        "command": None,
        "deleted": False,
        "delivered": False,
        "status": None,
        "answer": None,
    }
    if not is_run_id(options.run):
        sent = context.sent(options)
        record = context.get(context.run_id_now(sent.delivery))
    elif record := context.get(options.run):
        sent = Sent.again(record, context.settings.job_scope)
        _check_key(record, sent.delivery, context)
    else:
        text = "No record has this run id; name the run by its schedule time instead."
        return Report(data, text, Exit.SEE_TO)
    ended = _check(record) if record else False
    again = Redelivery(
        sent,
        tuple(options.header),
        options.body.encode(),
        with_token=context.settings.checks_caller,
    )
    data |= {
        "run_id": context.run_id_now(sent.delivery),
        "record": as_data(record, context) if record else None,
        "command": again.command(options.url),
    }
    doomed = record if ended else None
    if options.dry_run:
        first = "Would delete the record of this run. " if ended else ""
        return Report(data, f"{first}This delivers it:\n{again.command(options.url)}")
    if options.url:
        return _deliver(again, options.url, doomed, data, context)
    deleted = _delete(doomed, context)
    text = f"{deleted}This delivers the run:\n{again.command('')}"
    return Report({**data, "deleted": ended}, text)


def _deliver(
    again: Redelivery, url: str, doomed: Record | None, data: dict[str, object], context: Context
) -> Report:
    """Connect, delete the record that stands in the way, deliver: in this order."""
    try:
        connection = again.connect(url, context.settings.attempt_deadline)
    except OSError as error:
        raise Mistake(f"nothing was done, as {url} cannot be reached: {error}") from error
    try:
        deleted = _delete(doomed, context)
        data = {**data, "deleted": doomed is not None, "delivered": True}
        answer = again.send(connection, url, context.settings.id_token)
    except (OSError, http.client.HTTPException) as error:
        text = f"{deleted}No answer came ({plain(error)}); look at the run by `show`."
        return Report(data, text, Exit.SEE_TO)
    finally:
        connection.close()
    return Report(
        {**data, "status": answer.status, "answer": answer.fields},
        f"{deleted}Delivered; the answer is {answer.status} {plain(answer.outcome)}".rstrip() + ".",
        Exit.DONE if answer.completed else Exit.SEE_TO,
    )


def _check(record: Record) -> bool:
    """Tell whether the run has ended, so that its record has to go first.

    Raises:
        Refused: it is being done, or nobody can tell.
    """
    state = State.of(record)
    if state is State.RUNNING:
        raise Refused(f"{name_of(record)} is being done: {lease_of(record)}. Wait, or release it.")
    if state is State.UNREADABLE:
        raise Refused(f"{name_of(record)} has an unknown status: correct it, or release it.")
    return state.final


def _check_key(record: Record, delivery: Delivery, context: Context) -> None:
    """Refuse a delivery that would be another run than the record's (R06, R08)."""
    if context.run_id_now(delivery) == record.run_id:
        return
    service = context.settings.service
    if record.run_id == delivery.run_id(service, Trigger.FORCED):
        raise Refused(
            f"{name_of(record)} was forced, and its schedule time is over: a delivery would count"
            " as the scheduled run. Force the job again instead."
        )
    if record.run_id == delivery.run_id(service, Trigger.SCHEDULED):
        raise Refused(
            f"{name_of(record)} is still ahead: a delivery would count as a forced run. Wait."
        )
    raise Refused(
        f"The key of {name_of(record)} is not made of its fields and SERVICE={service}: a delivery"
        " would be another run."
    )


def _delete(record: Record | None, context: Context) -> str:
    """Delete a record as it was read, and say so."""
    if record is None:
        return ""
    if not context.store.delete(record, timeout=TIMEOUT):
        raise Refused(CHANGED)
    return f"Deleted the record of {name_of(record)}. "
