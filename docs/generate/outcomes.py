"""How a delivery ends: outcomes, statuses and the words of refusals."""

import ast
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, get_args

from app import service
from app.dedup import outcome

from docs.generate import sources
from docs.generate.markdown import code, escaped, table

_RESULT: Final[outcome.Result] = {"rows": 3}

_SAMPLES: Final[list[outcome.Outcome]] = [
    outcome.Processed("RUN_ID", _RESULT),
    outcome.Duplicate("RUN_ID", _RESULT),
    outcome.GaveUp("RUN_ID", "REASON"),
    outcome.InProgress("RUN_ID", 42.0),
    outcome.Lost("RUN_ID", 42.0),
    outcome.Lost("RUN_ID", None),
    outcome.Failed("RUN_ID", "REASON"),
    outcome.Unavailable("REASON", "RUN_ID"),
    outcome.Rejected(400, "REASON"),
]
"""One of each kind, and both of a kind that has two answers."""

_WHEN: Final = {
    ("lost", 409): "The claim was lost, and another attempt is at work (R24).",
    ("lost", 500): "The claim was lost, and nobody has the run (R24).",
    ("in_progress", 409): "Another attempt is at work (R12).",
    ("rejected", 400): "The request is refused for a reason below (R04, R05, R33).",
}
"""What is not said for the people who read an answer."""

_BAD_DELIVERY: Final = ("app/dedup/delivery.py", "app/kinds/step.py")

_REFUSING: Final = (
    "app/service.py",
    "app/auth/token.py",
    "app/auth/iam.py",
    "app/auth/verify.py",
    "app/dedup/runner.py",
)


def outcomes() -> str:
    """Return a table of outcomes with their answers."""
    if {type(sample) for sample in _SAMPLES} != set(get_args(outcome.Outcome)):
        raise ValueError("docs/generate has no sample of some kind of outcome")
    return table(("outcome", "status", "more of the answer", "when"), map(_row, _SAMPLES))


def refusals() -> str:
    """Return a table of what a refused request is told, by status."""
    rows = ((str(status), escaped(text)) for status, text in sorted(_refused()))
    return table(("status", "reason"), rows)


def _row(sample: outcome.Outcome) -> tuple[str, str, str, str]:
    with _silence():
        answer = service._answer(sample)
    body = json.loads(answer.body)
    name = body.pop("outcome")
    more = [code(key) for key in body]
    if "Retry-After" in answer.headers:
        more.append("header `Retry-After`, the seconds of lease left")
    status = str(answer.status)
    if isinstance(sample, outcome.Rejected):
        status = ", ".join(map(str, sorted({status for status, _ in _refused()})))
    when = _WHEN.get((name, answer.status)) or sources.summary(type(sample))
    return code(name), status, ", ".join(more), when


@contextmanager
def _silence() -> Iterator[None]:
    """Say nothing of what is answered here."""
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _refused() -> set[tuple[int, str]]:
    return {*_rejected(), *_bad_deliveries(), *_bad_callers()}


def _rejected() -> Iterator[tuple[int, str]]:
    """Yield the refusals that name their status."""
    for path in _REFUSING:
        for node in ast.walk(sources.tree(path)):
            match node:
                case ast.Call(
                    ast.Name("_rejected") | ast.Attribute(attr="Rejected"),
                    [ast.Constant(int(status)), reason],
                ):
                    text = sources.text_of(reason) or _assigned(path, reason)
                    if text:
                        yield status, text


def _assigned(path: str, name: ast.expr) -> str | None:
    """Return the text that a local name has."""
    for node in ast.walk(sources.tree(path)):
        match node, name:
            case ast.Assign([ast.Name(target)], value), ast.Name(wanted) if target == wanted:
                if text := sources.text_of(value):
                    return text
    return None


def _bad_deliveries() -> Iterator[tuple[int, str]]:
    for path in _BAD_DELIVERY:
        for text in _raised(path, "BadDelivery"):
            yield 400, text


def _bad_callers() -> Iterator[tuple[int, str]]:
    for path in _REFUSING:
        for status, name in ((401, "Unauthenticated"), (403, "Forbidden")):
            for text in _raised(path, name):
                yield status, text


def _raised(path: str, name: str) -> Iterator[str]:
    for node in ast.walk(sources.tree(path)):
        match node:
            case ast.Call(ast.Name(called), [reason]) if called == name:
                if text := sources.text_of(reason):
                    yield text
