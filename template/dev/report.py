"""The verdict at the end: a table of all runs, and the whole output as an SVG picture."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dev.attempt import Reply
from dev.delivery import Answer
from dev.simulation import RunResult
from dev.timeline import show_time
from dev.verdict import Verdict

_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def print_verdicts(console: Console, results: Sequence[tuple[RunResult, Verdict]]) -> None:
    """Print the table and the closing line."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("run", justify="right")
    table.add_column("what happened")
    table.add_column("answers")
    table.add_column("attempts")
    # Only where something is started elsewhere.
    shows_starts = any(verdict.starts is not None for _, verdict in results)
    if shows_starts:
        table.add_column("starts", justify="right")
    table.add_column("completed", justify="right")
    table.add_column("verdict")
    for number, (result, verdict) in enumerate(results, 1):
        table.add_row(
            str(number),
            _happening(result),
            _answers(result.replies),
            _attempts(verdict),
            *([str(verdict.starts)] if shows_starts else []),
            str(verdict.completions),
            _verdict(verdict),
        )
    console.print(table)
    console.print(_closing([verdict for _, verdict in results]))


def save_svg(console: Console, path: Path, title: str) -> None:
    """Save what a recording console has printed. The picture loads no fonts from elsewhere."""
    path.write_text(_FONT_FACE.sub("", console.export_svg(title=title)), encoding="utf-8")


def _happening(result: RunResult) -> Text:
    lines = Text(result.planned.title)
    lines.append(f"\n{show_time(result.planned.schedule_time)}", "dim")
    for fault in result.missed:
        lines.append(f"\nno moment for {fault.value}", "yellow")
    return lines


def _answers(replies: Sequence[Reply]) -> Text:
    counts = Counter(
        f"{reply.status} {reply.outcome}" if isinstance(reply, Answer) else reply.reason
        for reply in replies
    )
    return Text("\n").join(
        Text(f"{count} x {name}" if count > 1 else name) for name, count in counts.items()
    )


def _attempts(verdict: Verdict) -> str:
    if verdict.attempts is None:
        return "not seen"
    recovered = f"\n{verdict.recovered} took over" if verdict.recovered else ""
    return f"{verdict.attempts}{recovered}"


def _verdict(verdict: Verdict) -> Text:
    if verdict.right:
        return Text("✔ once", "bold green")
    return Text(f"✗ {verdict.problem}", "bold red")


def _closing(verdicts: Sequence[Verdict]) -> Text:
    runs = f"{len(verdicts)} run{'s' if len(verdicts) > 1 else ''}"
    wrong = sum(not verdict.right for verdict in verdicts)
    if wrong:
        return Text(f"✗ {wrong} of {runs} went wrong", "bold red")
    recovered = sum(verdict.recovered for verdict in verdicts)
    after = f", {recovered} of them by a takeover" if recovered else ""
    return Text(f"✔ {runs}, each completed exactly once{after}", "bold green")
