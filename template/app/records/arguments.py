"""The command line of `python -m app.records`."""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from app.auth import CREDENTIALS
from app.dedup.delivery import Instant
from app.dedup.record import Status

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

_FRAMING: Final = (
    *("connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te"),
    *("trailer", "transfer-encoding", "upgrade"),
)
"""Headers that say how a request is sent, not what."""

_EPILOG: Final = """\
RUN is a run id or a schedule time. TIME is a time such as 2026-10-16T12:00:00Z, or how long ago it
was, such as 90m, 36h or 2d. The environment says which store, service and job: RUN_STORE_URL,
SERVICE, JOB_ID, JOB_SCOPE, SCHEDULE, TIME_ZONE.

exit status:
  0  done, and nothing is wrong
  1  to be seen to: runs are missed or stuck, there is no such record, or a run was not redone
  2  the command line or the environment is wrong, the store failed, or the report was not printed
  3  refused, because it would not be safe, or because the record has changed meanwhile
"""


@dataclass
class Options:
    """A command line, read at `now`; what was not given is empty. The parser fills it in.

    An empty `url` was given, and is a mistake: without one, nothing is delivered (None).
    """

    now: datetime
    command: str = ""
    json: bool = False
    run: str = ""
    status: str | None = None
    job: str = ""
    project: str = ""
    location: str = ""
    since: datetime | None = None
    until: datetime | None = None
    force: bool = False
    dry_run: bool = False
    url: str | None = None
    header: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""


def parse(argv: Sequence[str], now: datetime) -> Options:
    """Read the command line; without any argument, `list` is meant.

    Raises:
        SystemExit: with status 2 after a message that says what is wrong, or 0 after help.
    """
    return _parser(now).parse_args(argv or ["list"], namespace=Options(now))


def _parser(now: datetime) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m app.records",
        description="The records of runs: what was done, what was missed, and doing it again.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.add_argument("--json", action="store_true", help="print JSON, for scripts")
        return added

    listing = command("list", "list the records")
    listing.add_argument("--status", choices=[*map(str, Status)], help="only those of this status")
    listing.add_argument("--job", default="", metavar="ID", help="only those of this job")
    _span(listing, now, required=False)

    show = command("show", "show all that a record says")
    _run(show)

    missed = command("missed", "list the scheduled runs that were never completed")
    _job(missed)
    _span(missed, now, required=True)

    stuck = command("stuck", "list the runs that do not go on by themselves")
    stuck.add_argument("--job", default="", metavar="ID", help="only those of this job")

    release = command("release", "take a run from its attempt, for the next delivery to take over")
    _run(release)
    _change(release)
    release.add_argument(
        "--force", action="store_true", help="even if its lease is alive or its status unknown"
    )

    redo = command("redo", "deliver a run again; if it had ended, its record is deleted for that")
    _run(redo)
    _change(redo)
    redo.add_argument(
        "--url",
        help="deliver it to this service; without, print the command that does. A record is deleted"
        " only after the service has answered a first delivery as one of this run",
    )
    redo.add_argument(
        "--header",
        type=_header,
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="a header of the job; may be repeated. A token is taken from the variable ID_TOKEN",
    )
    redo.add_argument(
        "--body", default="", type=_text, metavar="TEXT", help="the job's body (none)"
    )

    command("init", "create what the store needs and is not there yet")
    return parser


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run id, or the schedule time of a run")
    _job(parser)


def _job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--job", default="", metavar="ID", help="its job (JOB_ID)")
    parser.add_argument("--project", default="", metavar="ID", help="the job's project")
    parser.add_argument("--location", default="", metavar="ID", help="the job's location")


def _span(parser: argparse.ArgumentParser, now: datetime, *, required: bool) -> None:
    moment = _moment(now)
    parser.add_argument(
        "--since", type=moment, metavar="TIME", required=required, help="scheduled from then on"
    )
    parser.add_argument("--until", type=moment, metavar="TIME", help="scheduled before then")


def _change(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="only say what would be done, and change nothing"
    )


def _moment(now: datetime) -> Callable[[str], datetime]:
    def moment(text: str) -> datetime:
        try:
            if ago := re.fullmatch(r"([0-9]{1,6})([smhd])", text):
                return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return Instant.parse(text).moment
        except (ValueError, OverflowError):
            raise argparse.ArgumentTypeError(
                f"{text!a} is neither a time such as 2026-10-16T12:00:00Z nor a length of time"
                " such as 90m, 36h or 2d"
            ) from None

    return moment


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("it is not UTF-8") from None
    return text


def _header(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~\t]*)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!a} is not 'NAME: VALUE'")
    name = match[1].lower()
    if name.startswith(("x-cloudscheduler", "x-job-")):
        raise argparse.ArgumentTypeError(f"{match[1]} says which run it is, and is set by itself")
    if name in _FRAMING:
        raise argparse.ArgumentTypeError(f"{match[1]} belongs to the connection, not to the job")
    if name in CREDENTIALS:
        raise argparse.ArgumentTypeError("a token does not belong there: put it into ID_TOKEN")
    return match[1], match[2]
