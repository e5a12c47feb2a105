"""Comparing what a document shows with what a command prints."""

import re

_ALIKE = (
    (r"\x1b\[[0-9;]*m", ""),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "TIME"),
    (r"\b[0-9a-f]{40,64}\b", "ID"),
    (r"\b[0-9a-f]{8,32}\b", "ID"),
    (r"(localhost|127\.0\.0\.1|0\.0\.0\.0):\d+", "HOST"),
    (r"\b\d+(\.\d+)? (s|ms|min|seconds)\b", "DURATION"),
    (r"\bin \d+\.\d+s\b", "in DURATION"),
    (r"[ \t]+", " "),
)
"""What differs each time: times, ids, ports, lengths of time, and the width of columns."""


def difference(shown: str, printed: str) -> str | None:
    """Return what is wrong with what is shown, or None. `…` stands for anything, also for lines."""
    wanted = _plain(shown)
    pattern = re.escape(wanted).replace("…", r"[\s\S]*?")
    if re.fullmatch(pattern, _plain(printed)):
        return None
    return f"shown:\n{shown}\nprinted:\n{printed}"


def _plain(text: str) -> str:
    for pattern, name in _ALIKE:
        text = re.sub(pattern, name, text)
    return "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())
