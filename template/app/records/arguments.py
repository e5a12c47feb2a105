"""The command line of `python -m app.records`."""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from app import kinds
from app.auth import CREDENTIALS
from app.dedup.delivery import Instant
from app.dedup.record import Status
from app.records.runs import RUN_ID

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

_FRAMING: Final = (
    *("connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te"),
    *("trailer", "transfer-encoding", "upgrade"),
)
"""Headers that say how a request is sent, not what."""

_EPILOG: Final = """\
RUN is {run}. TIME is a time such as 2026-10-16T12:00:00Z, or how long ago it
was, such as 90m, 36h or 2d. The environment says which {settings}.

exit status:
  0  done, and nothing is wrong
  1  to be seen to: {seen_to}
  2  the command line or the environment is wrong, the store failed, or the report was not printed
  3  refused, because it would not be safe, or because the record has changed meanwhile
"""

_BY_SCHEDULE: Final = {
    "subject": "what was done, what was missed, and doing it again",
    "run": "a run id or a schedule time",
    "settings": "store, service and job: RUN_STORE_URL,\n"
    "SERVICE, JOB_ID, JOB_SCOPE, SCHEDULE, TIME_ZONE",
    "seen_to": "runs are missed or stuck, there is no such record, or a run was not redone",
    "those": "those of this job",
    "begun": "scheduled",
}
_BY_KEY: Final = {
    "subject": "what was done, and what is stuck",
    "run": "a run id",
    "settings": "store and service: RUN_STORE_URL, SERVICE",
    "seen_to": "runs are stuck, or there is no such record",
    "those": "that of this key",
    "begun": "claimed",
}
"""What the help says where a schedule names the runs, and where keys do."""


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
    body: str | None = None


def parse(argv: Sequence[str], now: datetime) -> Options:
    """Read the command line; without any argument, `list` is meant.

    Raises:
        SystemExit: with status 2 after a message that says what is wrong, or 0 after help.
    """
    return _parser(now).parse_args(argv or ["list"], namespace=Options(now))


def _parser(now: datetime) -> argparse.ArgumentParser:
    words = _BY_KEY if _by_key() else _BY_SCHEDULE
    parser = argparse.ArgumentParser(
        prog="python -m app.records",
        description=f"The records of runs: {words['subject']}.",
        epilog=_EPILOG.format(**words),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.add_argument("--json", action="store_true", help="print JSON, for scripts")
        return added

    listing = command("list", "list the records")
    listing.add_argument("--status", choices=[*map(str, Status)], help="only those of this status")
    listing.add_argument("--job", default="", metavar="ID", help=f"only {words['those']}")
    _span(listing, now, words["begun"], required=False)

    show = command("show", "show all that a record says")
    _run(show)

    if not _by_key():
        missed = command("missed", "list the scheduled runs that were never completed")
        _job(missed)
        _span(missed, now, words["begun"], required=True)

    stuck = command("stuck", "list the runs that do not go on by themselves")
    stuck.add_argument("--job", default="", metavar="ID", help=f"only {words['those']}")

    release = command("release", "take a run from its attempt, for the next delivery to take over")
    _run(release)
    _change(release)
    release.add_argument(
        "--force", action="store_true", help="even if its lease is alive or its status unknown"
    )

    if not _by_key():
        text = "deliver a run again; if it had ended, its record is deleted for that"
        _redo(command("redo", text))

    command("init", "create what the store needs and is not there yet")
    return parser


def _by_key() -> bool:
    """Tell whether keys name the runs; then no schedule says what is missed or sent again."""
    return bool(kinds.trait("KEY_HEADER"))


def _redo(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    _change(parser)
    parser.add_argument(
        "--url",
        help="deliver it to this service; without, print the command that does. A record is deleted"
        " only after the service has answered a first delivery as one of this run",
    )
    parser.add_argument(
        "--header",
        type=_header,
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="a header of the job; may be repeated. A token is taken from the variable ID_TOKEN",
    )
    file = kinds.trait("BODY_FILE")
    own = f"{file}, as application/json" if file else "none"
    parser.add_argument("--body", type=_text, metavar="TEXT", help=f"the job's body ({own})")


def _run(parser: argparse.ArgumentParser) -> None:
    if _by_key():
        parser.add_argument("run", metavar="RUN", type=_run_id, help="a run id")
        return
    parser.add_argument("run", metavar="RUN", help="a run id, or the schedule time of a run")
    _job(parser)


def _job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--job", default="", metavar="ID", help="its job (JOB_ID)")
    parser.add_argument("--project", default="", metavar="ID", help="the job's project")
    parser.add_argument("--location", default="", metavar="ID", help="the job's location")


def _span(parser: argparse.ArgumentParser, now: datetime, begun: str, *, required: bool) -> None:
    moment = _moment(now)
    parser.add_argument(
        "--since", type=moment, metavar="TIME", required=required, help=f"{begun} from then on"
    )
    parser.add_argument("--until", type=moment, metavar="TIME", help=f"{begun} before then")


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


def _run_id(text: str) -> str:
    if RUN_ID.fullmatch(text):
        return text
    raise argparse.ArgumentTypeError(f"{text!a} is no run id (64 hex digits)")


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
