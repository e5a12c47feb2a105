"""`python -m app.records`: look at the records of runs, and set runs going again (R40)."""

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from app.dedup.clock import SYSTEM_CLOCK, Clock
from app.dedup.store import Store, StoreError
from app.dedup.stores import open_store
from app.environment import BadEnvironment
from app.records.arguments import Options, parse
from app.records.context import Context
from app.records.init import init
from app.records.missed import missed
from app.records.reading import list_records, show, stuck
from app.records.redo import redo
from app.records.release import release
from app.records.report import Exit, Mistake, Refused, Report, plain
from app.records.settings import RecordsSettings

_COMMANDS: Final[Mapping[str, Callable[[Options, Context], Report]]] = {
    "list": list_records,
    "show": show,
    "missed": missed,
    "stuck": stuck,
    "release": release,
    "redo": redo,
    "init": init,
}


def main(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    connect: Callable[[str], Store] = open_store,
    clock: Clock = SYSTEM_CLOCK,
) -> Exit:
    """Do what the command line says, print the report and return the exit status.

    Raises:
        SystemExit: with status 2 if the command line is wrong, or 0 after help.
        OSError: the report cannot be printed.
    """
    options = parse(argv, clock.now())
    try:
        report = _report(options, environ, connect, clock)
    except (BadEnvironment, Mistake) as error:
        return _fail(str(error), Exit.FAILED)
    except StoreError as error:
        return _fail(f"The store failed: {error}", Exit.FAILED)
    except Refused as error:
        return _fail(str(error), Exit.REFUSED)
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.write(report.shown(as_json=options.json) + "\n")
    sys.stdout.flush()
    return report.exit


def _report(
    options: Options,
    environ: Mapping[str, str],
    connect: Callable[[str], Store],
    clock: Clock,
) -> Report:
    settings = RecordsSettings.from_environ(environ)
    store = connect(settings.run_store_url)
    try:
        return _COMMANDS[options.command](options, Context(settings, store, clock))
    finally:
        store.close()


def _fail(message: str, status: Exit) -> Exit:
    if sys.stderr is not None:
        sys.stderr.write(f"{message[:1].upper()}{message[1:]}\n")
    return status


def run(argv: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Be the process of the command: end with its exit status, and quietly where a person ends it.

    Whatever goes wrong, there is no traceback, and no status that means something else.

    Raises:
        SystemExit: always.
    """
    # What stores log is for the service's log; here, errors are reported, and by one message.
    logging.disable()
    try:
        sys.exit(main(argv, environ))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever reads has seen enough.
        _drop_output()
        sys.exit(Exit.DONE)
    except Exception as error:
        _drop_output()
        told = plain(f"{type(error).__name__}: {error}")
        sys.exit(_fail(f"The command failed: {told}", Exit.FAILED))


def _drop_output() -> None:
    """Leave nothing for the interpreter to print, which would fail again and change the status."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    run(sys.argv[1:], os.environ)
