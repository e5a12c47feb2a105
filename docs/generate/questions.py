"""The questions of copier.yml: what each asks, offers, takes for granted and refuses."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from docs.generate.markdown import code, escaped, sentence, table
from tests import matrix

_TYPES: Final = {"str": "text", "int": "whole number"}

_LONGEST: Final = 40
"""So many characters of a refused answer are shown."""

_SAMPLES: Final[dict[str, list[tuple[object, dict[str, object]]]]] = {
    "project_name": [("", {}), ("x" * 61, {}), ("two\nlines", {}), (" report", {})],
    "service": [("Nightly_Report", {})],
    "gcp_project": [("123456789012", {})],
    "region": [("us-central1-a", {})],
    "schedule": [
        ("every 5 minutes", {}),
        ("0 * * *", {}),
        (",".join(map(str, range(30))) + " * * * *", {}),
        ("60 * * * *", {}),
        ("0 9 * * mon", {}),
        ("*/0 * * * *", {}),
        ("0 17-9 * * *", {}),
        ("5/15 * * * *", {}),
        ("0 0 31 2 *", {}),
    ],
    "time_zone": [("+02:00", {})],
    "attempt_deadline": [
        (1801, {}),
        (86416, {"platform": "app-engine", "auth": "app-engine"}),
        (900, {"schedule": "*/15 * * * *"}),
    ],
    "lease": [(4, {}), (3601, {}), (120, {"schedule": "*/5 * * * *", "attempt_deadline": 180})],
    "retention": [(0, {}), (8761, {})],
}
"""Answers that are refused, and the answers beside which they are: one for each reason.

Choices need none, as each is tried beside all others. A test looks whether a reason is missing.
"""


def overview() -> str:
    """Return a table of all questions, each with a link to its section."""
    rows = [
        (f"[{code(name)}](#{name})", sentence(item["help"]), _default(name), _when(item))
        for name, item in matrix.questions().items()
    ]
    return table(("question", "asks", "default", "asked"), rows)


def sections() -> str:
    """Return a section for each question."""
    return "\n\n".join(
        "\n\n".join(_section(name, item)) for name, item in matrix.questions().items()
    )


def _section(name: str, item: dict[str, Any]) -> Iterator[str]:
    kind = "choice" if "choices" in item else _TYPES[item["type"]]
    yield f"### {name}"
    yield sentence(item["help"])
    yield f"A {kind}; default {_default(name)}; asked {_when(item)}."
    if "choices" in item:
        rows = [
            (code(choice["value"] if isinstance(choice, dict) else choice), words)
            for words, choice in item["choices"].items()
        ]
        yield table(("value", "means"), rows)
    if refused := list(_refused(name, item)):
        yield table(("refused", "because"), refused)


def _default(name: str) -> str:
    shown = code(matrix.default_of(name, _defaults()))
    read = matrix.read_by(str(matrix.questions()[name]["default"]))
    return f"{shown}, which follows {', '.join(map(code, read))}" if read else shown


def _when(item: dict[str, Any]) -> str:
    condition = str(item.get("when", "")).strip("{} ")
    return f"when {code(condition)}" if condition else "always"


def _defaults() -> dict[str, object]:
    given = dict[str, object]()
    for name, item in matrix.questions().items():
        default = matrix.default_of(name, given)
        given[name] = int(default) if item["type"] == "int" else default
    return given


def _refused(name: str, item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for answer, others in _SAMPLES.get(name, []):
        given = {**_defaults(), **others}
        reason = matrix.refusal(name, answer, given)
        if not reason:
            raise ValueError(f"{name} accepts {answer!r} with {others}; docs/generate says not")
        yield _shown(answer, others), escaped(reason)
    for choice in item.get("choices", {}).values():
        if isinstance(choice, dict):
            yield from _refused_choice(name, choice)


def _refused_choice(name: str, choice: dict[str, str]) -> Iterator[tuple[str, str]]:
    read = [one for one in matrix.read_by(choice["validator"]) if one != name]
    for values in itertools.product(*map(matrix.values_of, read)):
        others = dict[str, object](zip(read, values, strict=True))
        if reason := matrix.refusal(name, choice["value"], others):
            yield _shown(choice["value"], others), escaped(reason)


def _shown(answer: object, others: dict[str, object]) -> str:
    text = str(answer).replace("\n", "\\n") or '""'
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    beside = ", ".join(code(f"{name}: {value}") for name, value in others.items())
    return code(text) + (f" with {beside}" if beside else "")
