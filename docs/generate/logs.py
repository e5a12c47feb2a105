"""The log: one line for each step of a run, and what stands in it."""

import ast
import io
import json
import logging
from collections.abc import Iterator
from typing import Final

from app import logs

from docs.generate import sources
from docs.generate.markdown import code, escaped, table

_FIELDS: Final = {
    "severity": "`DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`",
    "message": "what happened, for people",
    "logger": "the module that says so",
    "time": "when, in UTC",
    "stack_trace": "where it went wrong, for an exception",
    "event": "which step of a run it is, see below",
    "job_name": "JOB_ID of the job, or a step's key",
    "schedule_time": "scheduled time of the run, in UTC; none for a step",
    "run_id": "key of the run, once it is known",
    "attempt_id": "which attempt it is",
    logs.TRACE: "trace of the request, which links the line to it",
}
"""What each field of a line says. The job's own lines have them too."""


_NAMES: Final = {"error": "stack_trace"}
"""Keywords of a log call that have another name in the line."""


def events() -> str:
    """Return a table of all events."""
    rows = sorted(set(_events()))
    return table(("`event`", "severity", "message", "more fields", "where"), rows)


def fields() -> str:
    """Return a table of the fields that lines have in common."""
    missing = _written() - _FIELDS.keys()
    if missing:
        raise ValueError(f"docs/generate does not say what {missing} in a log line is")
    return table(("field", "says"), ((code(name), text) for name, text in _FIELDS.items()))


def _written() -> set[str]:
    """Return the fields of a line with everything in it."""
    stream = io.StringIO()
    handlers = logging.root.handlers[:]
    logs.configure("INFO", stream)
    known = {"event": "", "job_name": "", "schedule_time": "", "run_id": "", "attempt_id": ""}
    headers = {"traceparent": (f"00-{'1' * 32}-{'2' * 16}-01",)}
    with logs.fields(**known, **logs.trace_of(headers, "my-project")):
        logs.Log("app").error("x", error=ValueError("x"))
    logging.root.handlers[:] = handlers
    return set(json.loads(stream.getvalue()))


def _events() -> Iterator[tuple[str, str, str, str, str]]:
    for path in sources.modules("app"):
        for node in ast.walk(sources.tree(path)):
            match node:
                case ast.Call(
                    ast.Attribute(value=ast.Name("_log"), attr=severity), [message], keywords
                ):
                    given = {each.arg: each.value for each in keywords}
                    event = given.pop("event", None)
                    if event is not None:
                        named = event.value if isinstance(event, ast.Constant) else "…"
                        text = escaped(sources.text_of(message) or "…")
                        more = ", ".join(code(_NAMES.get(name, name)) for name in given if name)
                        yield code(named), severity.upper(), text, more, code(path)
