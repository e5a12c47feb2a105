"""The page in the documentation, and its picture: every figure is of one run's results."""

from io import StringIO
from pathlib import Path
from typing import Final

from dev.report import save_svg
from rich.console import Console
from rich.text import Text

from benchmarks.report import figures
from benchmarks.results import Column, Contrast, Report, Result, Table, Target

_WIDTH: Final = 104
_BAR: Final = 40
_MARKS: Final = {True: "reached", False: "not reached", None: "not measured"}


def write(report: Report, docs: Path) -> list[Path]:
    """Write the page and the picture below `docs`; return their paths."""
    page, picture = docs / "reference" / "benchmarks.md", docs / "images" / "benchmarks.svg"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_page(report), encoding="utf-8")
    _draw(report, picture)
    return [page, picture]


def _page(report: Report) -> str:
    parts = [
        "# Benchmarks",
        "`make bench-docs` measures all of this and writes this page and its picture;"
        " `make bench` prints the same on the terminal, and `make bench ARGS=claim` one part of it."
        " Read ratios, not milliseconds: both sides of each were measured in turns, in one run.",
        "![Claim and finish, duplicates at once, and starts, beside what else one would use]"
        "(../images/benchmarks.svg)",
        "\n".join(f"- {name}: {text}" for name, text in report.machine.items()),
        "## Targets",
        _targets([target for result in report.results for target in result.targets]),
        *map(_section, report.results),
    ]
    if report.quick:
        parts.insert(1, "**These figures are of a quick run, which only shows that all works.**")
    return "\n\n".join(parts) + "\n"


def _section(result: Result) -> str:
    parts = [f"## {result.question}", f"`make bench ARGS={result.name}`. {result.method}"]
    parts += [f"Left out for want of {part}." for part in result.omitted]
    for table in result.tables:
        parts += [f"**{table.title}**", _table(table)]
    return "\n\n".join(parts)


def _targets(targets: list[Target]) -> str:
    lines = ["| target | found | |", "|---|---|---|"]
    for target in targets:
        found = "-" if target.value is None else figures(target)
        lines.append(f"| {target.text} | {found} | {_MARKS[target.reached]} |")
    return "\n".join(lines)


def _table(table: Table) -> str:
    lines = [_line([column.title for column in table.columns])]
    lines.append("|" + "|".join("--:" if each.unit else "---" for each in table.columns) + "|")
    lines += [_line([column.show(row) for column in table.columns]) for row in table.rows]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _draw(report: Report, path: Path) -> None:
    """Draw each contrast as two bars, of which the longer one fills the line."""
    console = Console(record=True, width=_WIDTH, file=StringIO())
    for result in report.results:
        for contrast in result.contrasts:
            console.print(_bars(contrast))
    save_svg(console, path, "make bench")


def _bars(contrast: Contrast) -> Text:
    most = max(contrast.ours, contrast.other)
    drawn = Text(f"{contrast.title}\n", "bold")
    sides = (("scheduler-once", contrast.ours, "green"), (contrast.named, contrast.other, "yellow"))
    for name, value, colour in sides:
        length = max(1, round(_BAR * value / most))
        drawn.append(f"  {name:<24}")
        drawn.append("█" * length, colour)
        drawn.append(f" {Column('value', '', contrast.unit).show({'value': value})}\n")
    return drawn
