"""Commands of which only the name is mentioned: whether there is such a command."""

import re
import runpy
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.docs.commands import Command
from tests.rendering import ROOT

_BARE: Final = re.compile(
    r"make [a-z.-]+( [a-z-]+)*"
    r"|gcloud( [a-z-]+)+( --[a-z-]+)*"
    r"|terraform [a-z]+"
    r"|uv [a-z]+( --[a-z]+)*"
    r"|(uvx )?copier( [a-z-]+( -\S+)* -d NAME=VALUE| [a-z-]+)?"
    r"|\S*python3? -m( [\w.]+( --[a-z]+)?( -- COMMAND( ARGUMENT \.\.\.)?)?)?"
    r'|.*…"?'
)
_TARGET: Final = re.compile(r"^([a-z.-]+):", re.MULTILINE)

_COPIER: Final = {"check-update", "copy", "recopy", "update"}
"""What pages run of it, so that it is known to be there."""


def is_mention(command: Command) -> bool:
    """Whether a command is named in a sentence, without what it is to be done with."""
    if not seems_mention(command):
        return False
    # What follows the name of a command is what it is to be done with.
    return not command.text.startswith("gcloud ") or fault(command) is None


def seems_mention(command: Command) -> bool:
    """Whether that can be, without a look at what commands there are."""
    return command.in_text and _BARE.fullmatch(command.text) is not None


def fault(command: Command) -> str | None:
    """Return what is wrong with a mention, None if there is such a command."""
    words = re.sub(r'ARGS="…"|…', "", command.text).removeprefix("uvx ").split()
    program, rest = words[0].rpartition("/")[2], words[1:]
    match program:
        case "make":
            unknown = {word for word in rest if "=" not in word} - _targets()
        case "gcloud":
            unknown = _unknown_to_gcloud(rest)
        case "terraform":
            unknown = set(rest) - set(re.findall(r"(?m)^  ([a-z]+) ", _help("terraform")))
        case "copier":
            unknown = set(rest[:1]) - _COPIER
        case "python" | "python3":
            unknown = {name for name in rest[1:2] if not _is_module(name)}
        case _:
            unknown = set[str]()
    return f"{command.text}: there is no {', '.join(unknown)}" if unknown else None


def _is_module(name: str) -> bool:
    path = name.replace(".", "/")
    ends = (f"{path}.py", f"{path}/__main__.py")
    return any((folder / end).exists() for folder in (ROOT, ROOT / "template") for end in ends)


@cache
def _targets() -> set[str]:
    files = [ROOT / "Makefile", ROOT / "template" / "Makefile", *(ROOT / "template").rglob("*.mk")]
    return {name for file in files for name in _TARGET.findall(file.read_text())}


@cache
def _help(program: str) -> str:
    """What a program says of itself; where it is not installed, nothing is known of it."""
    if shutil.which(program) is None:
        return ""
    return subprocess.run([program, "-help"], check=True, capture_output=True, text=True).stdout


def _unknown_to_gcloud(words: list[str]) -> set[str]:
    node = _commands_of_gcloud()
    for word in words:
        if word.startswith("--"):
            flags = node.get("flags", {})
            if word not in flags and word.replace("--no-", "--", 1) not in flags:
                return {word}
        elif word in node.get("commands", {}):
            node = node["commands"][word]
        else:
            return {word}
    return set()


@cache
def _commands_of_gcloud() -> Any:
    """All commands of gcloud and their flags, as it has them for the completion of a shell."""
    program = shutil.which("gcloud")
    if program is None:
        return {}
    folder = Path(program).resolve().parents[1]
    made = runpy.run_path(str(folder / "data" / "cli" / "gcloud_completions.py"))
    return made["STATIC_COMPLETION_CLI_TREE"]
