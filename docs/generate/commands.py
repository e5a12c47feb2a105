"""The commands: of make, and of the modules that are run by `python -m`."""

import argparse
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final
from unittest.mock import patch

from app.guard import __main__ as guard_command
from app.guard.statuses import TABLE
from app.records import arguments
from app.records.report import Exit
from dev import budget as budget_command
from dev import options

from docs.generate import ROOT, TEMPLATE, sources
from docs.generate.markdown import code, escaped, table

_PARTS: Final = {
    "Makefile": "every project",
    "requirements.mk": "Cloud Run functions, App Engine",
    "deploy/gcloud.mk": "`deploy: gcloud`",
    "infra/image.mk": "`deploy: terraform`",
    "infra/app_engine.mk": "`deploy: terraform` on App Engine",
}
"""Which projects have a Makefile's part that adds commands."""


def make_of_a_project() -> str:
    """Return a table of the make commands of a generated project."""
    files = sorted(TEMPLATE.glob("*.mk")) + sorted(TEMPLATE.glob("*/*.mk"))
    rows = []
    for path in [TEMPLATE / "Makefile", *files]:
        name = path.relative_to(TEMPLATE).as_posix()
        for target, text in _targets(path.read_text(encoding="utf-8")):
            rows.append((code(f"make {target}"), text, _PARTS[name]))
    return table(("command", "does", "in"), rows)


def make_of_the_template() -> str:
    """Return a table of the make commands of this repository."""
    targets = _targets((ROOT / "Makefile").read_text(encoding="utf-8"))
    return table(("command", "does"), ((code(f"make {name}"), text) for name, text in targets))


def records() -> str:
    """Return a table of the records command's options, by command."""
    parser = _parser(lambda: arguments.parse(["list"], datetime.now(UTC)))
    rows = [
        (code(f"{name} {_written(action) if action else ''}".strip()), _help(command, action))
        for name, command in _commands(parser).items()
        for action in [None, *_actions(command)]
    ]
    return table(("command", "does"), rows)


def records_statuses() -> str:
    """Return a table of the records command's exit statuses."""
    return table(("exit status", "means"), _statuses("app/records/report.py", Exit))


def simulator() -> str:
    """Return a table of the simulator's options."""
    return _options(_parser(lambda: options.parse([], {}, datetime.now(UTC))))


def budget() -> str:
    """Return a table of the options of `python -m dev.budget`."""
    return _options(_parser(lambda: budget_command.main([])))


def guard() -> str:
    """Return a table of the guard's options."""
    return _options(_parser(lambda: guard_command.parse(["--", "true"])))


def guard_statuses() -> str:
    """Return a table of the guard's exit statuses."""
    entries = re.findall(
        r"^  (\d+\+?) +(.*?)(?=^  \d|^  any other|\Z)", TABLE, re.DOTALL | re.MULTILINE
    )
    rows = [(number.replace("+", " + N"), " ".join(text.split())) for number, text in entries]
    rows.append(("any other", "the command's own; its claim is released"))
    return table(("exit status", "means"), rows)


class _MadeError(Exception):
    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


def _parser(parse: Callable[[], object]) -> argparse.ArgumentParser:
    """Return the parser that `parse` makes for its command line."""

    def stop(parser: argparse.ArgumentParser, *given: object, **more: object) -> None:
        raise _MadeError(parser)

    try:
        with patch.object(argparse.ArgumentParser, "parse_args", stop):
            parse()
    except _MadeError as made:
        return made.parser
    raise ValueError("no command line was parsed")


def _targets(makefile: str) -> list[tuple[str, str]]:
    return re.findall(r"^([a-z-]+):.*## (.*)$", makefile, re.MULTILINE)


def _statuses(path: str, kind: type[IntEnum]) -> Iterator[tuple[str, str]]:
    notes = sources.notes(sources.class_of(path, kind.__name__).body)
    for status in kind:
        yield str(status.value), notes[status.name]


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (found,) = [
        action.choices
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return dict(found)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [one for one in parser._actions if not isinstance(one, argparse._HelpAction)]


def _options(parser: argparse.ArgumentParser) -> str:
    rows = [(code(_written(action)), _help(parser, action)) for action in _actions(parser)]
    return table(("option", "does"), rows)


def _written(action: argparse.Action) -> str:
    name = action.option_strings[0] if action.option_strings else ""
    takes_value = action.nargs != 0
    value = action.metavar or ("" if action.choices else action.dest.upper())
    if action.choices and not action.metavar:
        value = "|".join(map(str, action.choices))
    return " ".join(filter(None, [name, str(value) if takes_value else ""]))


def _help(parser: argparse.ArgumentParser, action: argparse.Action | None) -> str:
    if action is None:
        return f"**{parser.description}**"
    said = (action.help or "") % {"default": action.default}
    if action.required and action.option_strings:
        said += "; has to be given"
    return escaped(said)
