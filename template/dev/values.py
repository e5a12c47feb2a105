"""What may stand for a value on the command line of the local Cloud Scheduler."""

import argparse
import math
import re
from collections.abc import Callable


def header(text: str) -> tuple[str, str]:
    """Read a header.

    Raises:
        ValueError: it is none.
    """
    match = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*)", text)
    if match is None:
        raise ValueError(f"--header must be 'NAME: VALUE', not {text!r}")
    return match[1], match[2]


def whole(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` on."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more")
        return int(text)

    return read


def seconds(text: str) -> float:
    """Read a length of time."""
    try:
        length = float(text)
    except ValueError:
        length = math.nan
    if not (0 <= length < math.inf):
        raise argparse.ArgumentTypeError("must be a number of seconds, 0 or more")
    return length
