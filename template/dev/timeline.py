"""The timeline of each run, printed while it happens."""

import time
from datetime import datetime
from threading import Lock

from rich.console import Console
from rich.text import Text

from dev.delivery import Answer, NoAnswer, Spelling
from dev.events import Event
from dev.plan import PlannedRun

_EVENT_STYLES = {
    "claimed": "cyan",
    "returned": "cyan",
    "completed": "green",
    "released": "yellow",
    "lost": "yellow",
    "stopping": "yellow",
    "gave_up": "red",
    "outcome_unknown": "yellow",
    "unclear_resolved": "yellow",
}
"""The events that are shown. The others say what the answer says, too."""


class Timeline:
    """Prints a line for each thing that happens to a run. Any thread may call it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = Lock()
        self._began = time.monotonic()

    def begin(self, number: int, run: PlannedRun) -> None:
        """Start the timeline of the next run; its clock starts at zero."""
        head = Text.assemble(
            ("╭ ", "dim"),
            (f"run {number}  ", "bold"),
            (f"{show_time(run.schedule_time)}  ", "bold blue"),
            (run.title, "bold"),
        )
        with self._lock:
            self._began = time.monotonic()
            self._console.print()
            self._console.print(head)

    def delivered(self, copy: int, spelling: Spelling, schedule_time: datetime) -> None:
        """Show a request that is sent. `copy` numbers simultaneous ones from 1, else it is 0."""
        written = spelling.time(schedule_time)
        detail = f"{written}  {spelling.label}" if copy else written
        self._line("→", f"delivery{_number(copy)}", detail, "blue")

    def replied(self, copy: int, reply: Answer | NoAnswer) -> None:
        """Show an answer, or that there is none."""
        number = f"delivery{_number(copy)}" if copy else ""
        match reply:
            case Answer(status, outcome, retry_after):
                wait = f"retry after {retry_after} s" if retry_after else ""
                style = "green" if reply.success else "yellow" if status < 500 else "red"
                words = ", ".join(filter(None, [number, wait]))
                self._line("←", f"{status} {outcome}", words, style)
            case NoAnswer(reason):
                words = ", ".join(filter(None, [number, reason]))
                self._line("✗", "no answer", words, "red")

    def event(self, event: Event) -> None:
        """Show a step that the server logged."""
        style = _EVENT_STYLES.get(event.name)
        if style is None:
            return
        words = [f"attempt {event.attempt_id[:8]}" if event.attempt_id else ""]
        if event.recovered:
            words.append("takes over from an earlier attempt")
        if event.forced:
            words.append("forced")
        self._line("●", event.name.replace("_", " "), ", ".join(filter(None, words)), style)

    def killed(self, where: str) -> None:
        """Show that the server was killed, and where it was then."""
        self._line("✗", "kill -9", where, "bold red")

    def restarted(self, seconds: float) -> None:
        """Show that the server is up again."""
        self._line("↑", "server up", f"after {seconds:.1f} s", "dim")

    def retry(self, retry: int, seconds: float) -> None:
        """Show that the back-off before a retry is over."""
        self._line("↻", f"retry {retry}", f"after {seconds:g} s", "magenta")

    def gave_up(self) -> None:
        """Show that Cloud Scheduler makes no more retries."""
        self._line("✗", "no retry left", "", "bold red")

    def waiting(self, due: datetime, seconds: float) -> None:
        """Show that a scheduled time is waited for."""
        with self._lock:
            self._console.print()
            self._console.print(f"  waiting {seconds:.0f} s for {show_time(due)}", style="dim")

    def _line(self, mark: str, what: str, detail: str, style: str) -> None:
        with self._lock:
            elapsed = time.monotonic() - self._began
            line = Text.assemble(
                ("│ ", "dim"),
                (f"{elapsed:6.2f} s  ", "dim"),
                (f"{mark} {what:<16}", style),
                (f" {detail}" if detail else "", "" if style != "dim" else "dim"),
            )
            line.rstrip()
            self._console.print(line, soft_wrap=True)


def show_time(time: datetime) -> str:
    """Write a UTC time for a reader: `2026-10-16 12:00:00Z`."""
    return time.isoformat(sep=" ", timespec="seconds").replace("+00:00", "Z")


def _number(copy: int) -> str:
    return f" {copy}" if copy else ""
