"""Whether a rendered file is in the form that its name says."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import hcl2
import lark
import yaml

PROGRAMS = Path(sys.executable).parent


def _piped(*command: str | Path) -> Callable[[str], None]:
    """A parser that is a command, which reads standard input and fails with what it says."""

    def parse(text: str) -> None:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(done.stdout + done.stderr)

    return parse


PARSERS: dict[str, Callable[[str], object]] = {
    ".py": ast.parse,
    ".toml": tomllib.loads,
    ".yml": yaml.safe_load,
    ".yaml": yaml.safe_load,
    ".json": json.loads,
    ".tf": hcl2.loads,
    ".tfvars": hcl2.loads,
    ".sh": _piped("bash", "-n"),
    "Dockerfile": _piped(PROGRAMS / "hadolint", "-"),
}
"""By the suffix of a file's name, or the name of one without."""


# Most files are the same in many variants: each is looked at once.


@cache
def parse_fault(path: str, text: str) -> str | None:
    """Why a file does not parse; a file of another kind has nothing to parse."""
    name = Path(path)
    parse = PARSERS.get(name.suffix or name.name)
    try:
        if parse:
            parse(text)
    except (SyntaxError, ValueError, yaml.YAMLError, lark.exceptions.LarkError) as error:
        return f"it does not parse: {error}"
    return None


@cache
def fault_of_form(path: str, text: str) -> str | None:
    """Why a file does not parse, is untidy, or shows that it comes from a template."""
    if fault := parse_fault(path, text):
        return fault
    # ${#name} is bash, for the length of a value; ${{ name }} is an expression of GitHub's.
    if path.endswith(".jinja") or re.search(r"\{%|%\}|(?<!\$)\{#|#\}|(?<!\$)\{\{ ", text):
        return "the template shows"
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        return "it does not end with one newline"
    if re.search(r"[ \t]\n", text):
        return "a line ends with a space"
    if re.search("\n{4}" if path.endswith(".py") else "\n{3}", text):
        return "there are stray blank lines"
    return None
