"""Logs in Cloud Logging's form: one JSON object per line on stdout, text on a terminal (R39).

Source of the field names: Cloud Logging, "Structured logging".
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, TextIO

from pythonjsonlogger.json import JsonFormatter

from app.dedup.delivery import Headers

TRACE: Final = "logging.googleapis.com/trace"

# W3C Trace Context: version ff and ids of nothing but zeros are no trace.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?"
)
_CLOUD_TRACE: Final = re.compile(r"(?!0{32})([0-9a-f]{32})(?:[/;].*)?")

_fields: ContextVar[dict[str, object] | None] = ContextVar("log_fields", default=None)


class Log:
    """A logger whose calls never raise: what is logged must not decide what happens.

    `error` is logged with its stack trace; keyword arguments become fields of the line. A job can
    hand out exceptions that cannot be shown, add filters that fail, or close the streams.
    """

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, message: str, *, error: BaseException | None = None, **extra: object) -> None:
        """Log for whoever looks for a fault."""
        self._log(logging.DEBUG, message, error, extra)

    def info(self, message: str, *, error: BaseException | None = None, **extra: object) -> None:
        """Log an ordinary step."""
        self._log(logging.INFO, message, error, extra)

    def warning(self, message: str, *, error: BaseException | None = None, **extra: object) -> None:
        """Log what may need a person's attention."""
        self._log(logging.WARNING, message, error, extra)

    def error(self, message: str, *, error: BaseException | None = None, **extra: object) -> None:
        """Log what needs a person's attention."""
        self._log(logging.ERROR, message, error, extra)

    def critical(self, message: str) -> None:
        """Log why the process cannot start."""
        self._log(logging.CRITICAL, message, None, {})

    def _log(
        self, level: int, message: str, error: BaseException | None, extra: dict[str, object]
    ) -> None:
        # The exception itself would be asked for its truth, which may raise, too.
        info = None if error is None else (type(error), error, error.__traceback__)
        with suppress(Exception):
            self._logger.log(level, "%s", message, exc_info=info, extra=extra, stacklevel=3)


@contextmanager
def fields(**values: object) -> Iterator[None]:
    """Add `values` to every line logged inside, the job's own lines included."""
    token = _fields.set({**(_fields.get() or {}), **values})
    try:
        yield
    finally:
        _fields.reset(token)


def bind(**values: object) -> None:
    """Add `values` to every further line of the innermost `fields` block, if there is one."""
    if (innermost := _fields.get()) is not None:
        innermost.update(values)


def trace_of(headers: Headers, project: str) -> dict[str, str]:
    """Return the trace field of a request, empty without a trace in its headers."""
    for name, form in (("traceparent", _TRACEPARENT), ("x-cloud-trace-context", _CLOUD_TRACE)):
        for value in headers.get(name, ()):
            if match := form.fullmatch(value):
                return {TRACE: f"projects/{project}/traces/{match[1]}"}
    return {}


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send all logs of `level` and above to `stream` (stdout), in the form that fits it."""
    stream = stream or sys.stdout
    handler = _Handler(stream)
    handler.addFilter(_add_fields)
    if stream.isatty():
        handler.setFormatter(_TextFormatter("%(asctime)s %(levelname)-8s %(message)s", "%H:%M:%S"))
    else:
        handler.setFormatter(
            JsonFormatter(
                ["levelname", "message", "name"],
                rename_fields={
                    "levelname": "severity",
                    "name": "logger",
                    "exc_info": "stack_trace",
                },
                timestamp="time",
                json_serializer=_serialized,
            )
        )
    logging.basicConfig(level=level, handlers=[handler], force=True)


class _Handler(logging.StreamHandler[TextIO]):
    """Says in one plain line that a line could not be written, where that can be said."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 as logging names it
        with suppress(Exception):
            line = {"severity": record.levelname, "message": "a log line could not be shown"}
            self.stream.write(json.dumps({**line, "logger": record.name}) + self.terminator)


def _serialized(line: dict[str, Any], **options: Any) -> str:
    """Return a line that is JSON whatever a job logs; what is not JSON is shown as text."""
    try:
        return json.dumps(line, allow_nan=False, **options)
    except (TypeError, ValueError, RecursionError):
        plain = {
            str(name): value if isinstance(value, str | int | None) else repr(value)
            for name, value in line.items()
        }
        return json.dumps(plain, **options)


class _TextFormatter(logging.Formatter):
    """Readable lines: the message, then the fields of the protocol that a person follows."""

    def format(self, record: logging.LogRecord) -> str:
        shown = ("event", "job_name", "schedule_time", "attempt_id", "recovered", "error")
        known = ((name, getattr(record, name, None)) for name in shown)
        extra = " ".join(f"{name}={value}" for name, value in known if value is not None)
        record.message = record.getMessage()
        line, *trace = super().format(record).split("\n")
        return "\n".join([f"{line} {extra}".rstrip(), *trace])


def _add_fields(record: logging.LogRecord) -> bool:
    for name, value in (_fields.get() or {}).items():
        if not hasattr(record, name):
            setattr(record, name, value)
    return True
