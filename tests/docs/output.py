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
    (r"={3,}", "==="),
    (r"[ \t]+", " "),
)
"""What differs each time: times, ids, ports, lengths of time, and the width of columns."""


def difference(shown: str, printed: str) -> str | None:
    """Return what is wrong with what is shown, or None.

    `…` stands for anything, and on a line of its own for lines, or for none.
    """
    lines = [
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*?") + r"\n"
        for line in _plain(shown)
    ]
    if re.fullmatch("".join(lines), "".join(f"{line}\n" for line in _plain(printed))):
        return None
    return f"shown:\n{shown}\nprinted:\n{printed}"


def _plain(text: str) -> list[str]:
    for pattern, name in _ALIKE:
        text = re.sub(pattern, name, text)
    return [line.strip() for line in text.splitlines() if line.strip()]
