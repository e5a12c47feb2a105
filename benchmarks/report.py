"""Results on the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from benchmarks.results import Result, Table, Target


def show(console: Console, result: Result) -> None:
    """Print a result: its tables, what was measured, and which targets are reached."""
    console.rule(f"{result.name}: {result.question}", align="left")
    for table in result.tables:
        console.print(_drawn(table))
    console.print(Text(result.method, "dim"))
    for part in result.omitted:
        console.print(Text(f"Left out for want of {part}.", "yellow"))
    for target in result.targets:
        console.print(_said(target))


def _drawn(table: Table) -> Drawn:
    drawn = Drawn(title=table.title, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for column in table.columns:
        drawn.add_column(column.title, justify="right" if column.unit else "left")
    for row in table.rows:
        drawn.add_row(*(Text(column.show(row)) for column in table.columns))
    return drawn


def _said(target: Target) -> Text:
    match target.reached:
        case None:
            return Text(f"? {target.text}: not measured", "yellow")
        case True:
            return Text(f"✔ {target.text}: {figures(target)}", "green")
        case False:
            return Text(f"✗ {target.text}: {figures(target)}", "red")


def figures(target: Target) -> str:
    """Return what was found and what was hoped for."""
    return f"{target.value:.3g}, hoped for at most {target.limit:.3g}"
