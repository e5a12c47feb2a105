"""Run a command once per idempotency token, under a claim in the store (R10-R28, R37)."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Final, NoReturn

from app import logs
from app.dedup import ClaimLost, JobResult, OutcomeUnknown, StepAttempt, Stopping, outcome
from app.dedup.clock import SYSTEM_CLOCK
from app.dedup.outcome import Outcome
from app.dedup.record import ORPHAN_LEASE
from app.dedup.runner import Payload, Runner
from app.dedup.step import Step
from app.dedup.store import Store, Terms
from app.dedup.stores import open_store
from app.environment import BadEnvironment
from app.guard import lines
from app.guard.command import Command
from app.guard.lines import CommandFailed
from app.guard.settings import GuardSettings
from app.guard.statuses import SIGNALLED, TABLE, Exit
from app.shutdown import Shutdown

_LONGEST: Final = 30 * 86_400.0
"""Seconds; longer than any platform lets a task work, as it is the platform that ends it."""

_RECOVERED: Final = "RECOVERED"

_MARGIN: Final = 1.0
"""Seconds by which a lease is waited for too long, rather than too short."""

_log = logs.Log(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    step: str
    command: Sequence[str]


class Guard:
    """Runs one command once. `status` is how the command ended; None: it was not run."""

    def __init__(
        self, options: Options, settings: GuardSettings, environ: Mapping[str, str], store: Store
    ) -> None:
        self.status: int | None = None
        self.command = Command(options.command)
        self.shutdown = Shutdown()
        task = f"/{settings.task}" if settings.task else ""
        self._step = Step(settings.token, trigger=f"guard:{options.step}{task}")
        self._environ = environ
        self._runner = Runner(
            store=store,
            terms=Terms(lease=settings.lease, retention=settings.retention),
            service=settings.service,
            separate_forced_runs=False,
            request_timeout=_LONGEST,
            shutdown=self.shutdown,
            clock=SYSTEM_CLOCK,
        )

    def run(self) -> int:
        """Run the command unless that has been done; return the exit status.

        A claim of another attempt is waited for as long as its lease was going to last: then it
        is over, or it was renewed by somebody who is alive.
        """
        result = self._try()
        if isinstance(result, outcome.InProgress) and result.lease_left <= ORPHAN_LEASE:
            _log.info(f"Waiting {result.lease_left:.0f} s for the other attempt's lease to end.")
            stopped = threading.Event()
            with self.shutdown.tells(stopped):
                stopped.wait(result.lease_left + _MARGIN)
            result = self._try()
        return self._exit(result)

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Tell the command, and begin nothing new (R27)."""
        # Locks must not be taken in a handler: it may have interrupted their holder.
        threading.Thread(target=self.shutdown.begin, name="shutdown").start()
        self.command.forward(number)

    def _try(self) -> Outcome:
        received = SYSTEM_CLOCK.monotonic()
        return self._runner.run(self._step, Payload(b"", {}, received), self._work)

    def _work(self, attempt: StepAttempt) -> JobResult:
        if self.command.received is not None:
            raise Stopping("a signal came before the command was started")
        environ = {name: value for name, value in self._environ.items() if name != _RECOVERED}
        if attempt.recovered:
            environ[_RECOVERED] = "1"
        try:
            status = self.command.run(environ, attempt.lost)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            self.status = Exit.NOT_FOUND if missing else Exit.NOT_RUNNABLE
            raise CommandFailed(f"the command cannot be started: {error}") from None
        told = self.command.received or 0
        # A command that is told to stop may end with 0, whether its work is done or not.
        ended = -told if status == 0 else status
        self.status = ended if ended >= 0 else SIGNALLED - ended
        if self.status == 0:
            return {"exit_status": 0}
        if attempt.lost.is_set():
            raise ClaimLost("the command was stopped, as another attempt may have the run")
        if status == 0:
            raise OutcomeUnknown(f"the command ended with status 0 after signal {told}")
        raise CommandFailed(f"the command ended with status {self.status}")

    def _exit(self, result: Outcome) -> int:
        match result:
            case outcome.Processed():
                return Exit.DONE
            case outcome.Duplicate():
                _log.info("An earlier attempt completed this run; the command is not run again.")
                return Exit.DONE
            case outcome.GaveUp():
                return Exit.FAILED_BEFORE
            case outcome.Failed() | outcome.Lost(lease_left=None) if self.status is not None:
                return self.status or Exit.NOT_RECORDED
            case outcome.InProgress() | outcome.Lost():
                _log.warning("Another attempt has this run.")
                return Exit.BUSY
            case _:
                number = self.command.received
                return Exit.UNAVAILABLE if number is None else SIGNALLED + number


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(Exit.USAGE, f"{self.usage}\n{self.prog}: {message}\n")


def parse(argv: Sequence[str]) -> Options:
    """Read the command line.

    Raises:
        SystemExit: with status 64 if it is wrong, or 0 after help.
    """
    parser = _Parser(
        prog="python -m app.guard",
        usage="python -m app.guard [--step NAME] -- COMMAND [ARGUMENT ...]",
        description="Run COMMAND once for the token in IDEMPOTENCY_TOKEN. Repeated and concurrent"
        " starts with the same token do not run it again; after a crash, the next start runs it"
        " with RECOVERED=1 in its environment.",
        epilog=TABLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--step",
        default="command",
        metavar="NAME",
        help="tells several guarded commands of one token apart (default: %(default)s)",
    )
    own, separator, command = _split(argv)
    options = parser.parse_args(own)
    if not separator or not command:
        parser.error("the command is missing; write it behind --")
    if not _is_text(options.step):
        parser.error("the NAME of --step is not UTF-8")
    return Options(options.step, command)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _split(argv: Sequence[str]) -> tuple[Sequence[str], bool, Sequence[str]]:
    if "--" not in argv:
        return argv, False, ()
    at = argv.index("--")
    return argv[:at], True, argv[at + 1 :]


def main(
    argv: Sequence[str], environ: Mapping[str, str], connect: Callable[[str], Store] = open_store
) -> int:
    """Be the guard and return the exit status. Main thread only, as it handles signals.

    Raises:
        SystemExit: with status 64 if the command line is wrong, or 0 after help.
    """
    lines.open_streams()
    options = parse(argv)
    try:
        settings = GuardSettings.from_environ(environ)
    except BadEnvironment as error:
        sys.stderr.write(f"{error}\n")
        return Exit.SETTINGS
    lines.configure(settings.log_level)
    guard = Guard(options, settings, environ, connect(settings.run_store_url))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, guard.on_signal)
    with logs.fields(job_name=settings.token):
        return guard.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
