"""`redo`: deliver a run again, after deleting its record if the run had ended."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from app import kinds
from app.dedup.delivery import Delivery, Trigger
from app.dedup.record import Record
from app.records.arguments import Options
from app.records.context import TIMEOUT, Context
from app.records.reading import as_data
from app.records.redelivery import Answer, Redelivery, split_url
from app.records.report import CHANGED, Exit, Mistake, Refused, Report, plain
from app.records.runs import Sent, is_run_id
from app.records.states import State, by_hand, lease_of, name_of


def redo(options: Options, context: Context) -> Report:
    """Deliver a run again with its original headers.

    A run without a record is delivered too, and so is a stuck one, which the delivery takes over.
    """
    names = [name.lower() for name, _ in options.header]
    if twice := {name for name in names if names.count(name) > 1}:
        raise Mistake(f"--header {', '.join(sorted(twice))}: a job has each header once")
    if options.url is not None:
        _check_delivery(options.url, context)
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
        if record is None:
            _check_due(sent.delivery, context)
        ended = record is not None and _check(record)
    elif record := context.get(options.run):
        ended = _check(record)
        sent = Sent.again(record, context.settings.job_scope)
        _check_key(record, sent.delivery, context)
    else:
        text = "No record has this run id; name the run by its schedule time instead."
        return Report(data, text, Exit.SEE_TO)
    headers, body = _content(options)
    again = Redelivery(sent, headers, body.encode(), with_token=context.settings.checks_caller)
    command = again.command(options.url or "")
    data |= {
        "run_id": context.run_id_now(sent.delivery),
        "record": as_data(record, context) if record else None,
        "command": command,
    }
    doomed = record if ended else None
    if options.dry_run:
        first = "Would delete the record of this run. " if ended else ""
        return Report(data, f"{first}This delivers it{_where(options)}:\n{command}")
    if options.url is None:
        deleted = _delete(doomed, context)
        text = f"{deleted}This delivers the run{_where(options)}:\n{command}"
        return Report({**data, "deleted": ended}, text)
    return _Redo(again, options.url, str(data["run_id"]), context).deliver(doomed, data)


@dataclass(frozen=True, slots=True)
class _Redo:
    """The delivery of `run_id` to the service at `url`."""

    again: Redelivery
    url: str
    run_id: str
    context: Context

    def deliver(self, doomed: Record | None, data: dict[str, object]) -> Report:
        """Deliver the run, after deleting the record that stands in the way.

        The record is deleted only when a first delivery has shown that the service knows it.
        """
        done = "" if doomed is None else "Nothing was deleted. "
        data = {**data, "delivered": True}
        try:
            if doomed is not None:
                with self._connected() as connection:
                    answer = self._send(connection)
                if not answer.knows(self.run_id):
                    return self._told(answer, data, done)
            with self._connected() as connection:
                done = _delete(doomed, self.context)
                data["deleted"] = doomed is not None
                answer = self._send(connection)
        except (OSError, http.client.HTTPException) as error:
            text = f"{done}No answer came ({plain(error)}); look at the run by `show`."
            return Report(data, text, Exit.SEE_TO)
        return self._told(answer, data, done)

    @contextmanager
    def _connected(self) -> Iterator[http.client.HTTPConnection]:
        try:
            connection = self.again.connect(self.url, self.context.settings.attempt_deadline)
        except OSError as error:
            raise Mistake(f"nothing was done, as {self.url} cannot be reached: {error}") from error
        with closing(connection):
            yield connection

    def _send(self, connection: http.client.HTTPConnection) -> Answer:
        return self.again.send(connection, self.url, self.context.settings.id_token)

    def _told(self, answer: Answer, data: dict[str, object], done: str) -> Report:
        told = f"{answer.status} {plain(answer.outcome)}".rstrip()
        if not answer.is_of(self.run_id):
            told += (
                ", and is about another run: the service has another SERVICE, JOB_SCOPE or"
                " FORCED_RUNS, or --url is another one's"
            )
        return Report(
            {**data, "status": answer.status, "answer": answer.fields},
            f"{done}The answer is {told.rstrip('.')}.",
            Exit.DONE if answer.completes(self.run_id) else Exit.SEE_TO,
        )


def _content(options: Options) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the job's headers and body; a body that nobody gave is what its own file says."""
    headers = tuple(options.header)
    if options.body is not None:
        return headers, options.body
    body = kinds.job_body()
    if body is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (("Content-Type", "application/json"), *headers)
    return headers, body or ""


def _where(options: Options) -> str:
    """Say what the command for the shell takes from there."""
    return "" if options.url else ", with the service's URL in the variable SERVICE_URL"


def _check_delivery(url: str, context: Context) -> None:
    """Refuse a delivery that cannot work, before anything is done.

    Raises:
        Mistake: the URL is none, or there is no token for a service that asks for one.
    """
    split_url(url)
    if context.settings.checks_caller and not context.settings.id_token:
        raise Mistake(
            "the service checks its caller (AUTH is not off), and ID_TOKEN is not set: put a token"
            " of the job's account into it; the README has the command"
        )


def _check(record: Record) -> bool:
    """Tell whether the run has ended, so that its record has to go first.

    Raises:
        Refused: it is being done, or nobody can tell.
    """
    state = State.of(record)
    if record.is_none:
        raise Refused(by_hand(record))
    if state is State.RUNNING:
        raise Refused(f"{name_of(record)} is being done: {lease_of(record)}. Wait, or release it.")
    if state is State.UNREADABLE:
        raise Refused(f"{name_of(record)} has an unknown status: correct it, or release it.")
    return state.final


def _check_due(delivery: Delivery, context: Context) -> None:
    """Refuse a run that nobody has begun and whose time is still to come (R06)."""
    if delivery.trigger(context.clock.now()) is Trigger.FORCED:
        raise Refused(
            f"The run of {delivery.job_name} at {delivery.schedule_time.text} is still ahead, and"
            " Cloud Scheduler delivers it then. Wait, or force the job."
        )


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
        " would be another run. One whose time has more than six digits behind the second is named"
        " by that time."
    )


def _delete(record: Record | None, context: Context) -> str:
    """Delete a record as it was read, and say so."""
    if record is None:
        return ""
    if not context.store.delete(record, timeout=TIMEOUT):
        raise Refused(CHANGED)
    return f"Deleted the record of {name_of(record)}. "
