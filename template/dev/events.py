"""What the server says of its runs: the events in its JSON log lines."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Condition


@dataclass(frozen=True)
class Event:
    """One step of the protocol. `seen` is when its log line was read, on the monotonic clock."""

    name: str
    seen: float
    run_id: str = ""
    attempt_id: str = ""
    job: str = ""
    schedule_time: datetime | None = None
    recovered: bool = False
    forced: bool | None = None


def parse_event(line: str, seen: float) -> Event | None:
    """Return the event of a log line, or `None` for any other line."""
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("event"), str):
        return None
    forced = fields.get("forced")
    job, time = str(fields.get("job_name") or ""), fields.get("schedule_time")
    if time is None and " " in job:
        # A run that is named by a key, `dev.delivery.run_key`.
        job, _, time = job.partition(" ")
    return Event(
        name=fields["event"],
        seen=seen,
        run_id=str(fields.get("run_id") or ""),
        attempt_id=str(fields.get("attempt_id") or ""),
        job=job,
        schedule_time=_instant(time),
        recovered=fields.get("recovered") is True,
        forced=forced if isinstance(forced, bool) else None,
    )


def _instant(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return parsed.astimezone(UTC) if parsed.tzinfo else None


class EventLog:
    """The server's events so far; one thread adds to it, others wait for what they look for."""

    def __init__(self, on_event: Callable[[Event], None] = lambda event: None) -> None:
        """Call `on_event` for every event, in the thread that reads the log."""
        self._events: list[Event] = []
        self._other_lines: deque[str] = deque(maxlen=20)
        self._changed = Condition()
        self._on_event = on_event

    @property
    def events(self) -> list[Event]:
        """The events so far, oldest first."""
        with self._changed:
            return list(self._events)

    @property
    def other_lines(self) -> list[str]:
        """The latest lines that are no events, for when the server fails to start."""
        with self._changed:
            return list(self._other_lines)

    def read(self, lines: Iterable[str]) -> None:
        """Add the events of all `lines`; returns when they end, as the server does."""
        for line in lines:
            event = parse_event(line, time.monotonic())
            with self._changed:
                if event is None:
                    self._other_lines.append(line.rstrip())
                else:
                    self._events.append(event)
                self._changed.notify_all()
            if event is not None:
                self._on_event(event)

    def mark(self) -> int:
        """Return the present end of the log, to look only at what comes after it."""
        with self._changed:
            return len(self._events)

    def wait_for(self, wanted: Callable[[Event], bool], since: int, timeout: float) -> bool:
        """Wait up to `timeout` seconds for a wanted event after the mark `since`."""
        with self._changed:
            return self._changed.wait_for(
                lambda: any(wanted(event) for event in self._events[since:]), timeout
            )
