"""What a run of the benchmarks has found: plain data, kept as JSON, of which all pages are made."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

Value = str | int | float | None
Row = dict[str, Value]

_FORMATS: Final = {
    "ms": "{:,.2f} ms",
    "s": "{:,.2f} s",
    "times": "{:,.2f} x",
    "MiB": "{:,.0f} MiB",
    "per second": "{:,.0f}/s",
    "count": "{:,.0f}",
    "mean": "{:,.1f}",
}
"""How a number of each unit is written; a text has no unit."""


@dataclass(frozen=True)
class Column:
    """One figure of each row. `key` is its name in the rows, `unit` a key of the formats or ''."""

    key: str
    title: str
    unit: str = ""

    def show(self, row: Row) -> str:
        """Return what a reader sees of a row."""
        value = row.get(self.key)
        if value is None:
            return "-"
        return _FORMATS[self.unit].format(value) if self.unit else str(value)


@dataclass(frozen=True)
class Table:
    """Figures of one kind."""

    title: str
    columns: Sequence[Column]
    rows: list[Row]


@dataclass(frozen=True)
class Target:
    """What was hoped for: `value` at most `limit`. None where it could not be measured."""

    text: str
    value: float | None
    limit: float

    @property
    def reached(self) -> bool | None:
        """Whether it is so; None where nobody knows."""
        return None if self.value is None else self.value <= self.limit


@dataclass(frozen=True)
class Contrast:
    """Two figures of one run that belong side by side in the picture, both in `unit`."""

    title: str
    ours: float
    other: float
    named: str
    unit: str


@dataclass(frozen=True)
class Result:
    """What one benchmark has found.

    Attributes:
        name: Of the benchmark, as on the command line.
        question: What it answers, as a title.
        method: What was measured, and how.
        omitted: Parts that this machine lacks, for which there are no rows.
    """

    name: str
    question: str
    method: str
    tables: list[Table]
    targets: list[Target] = field(default_factory=list)
    contrasts: list[Contrast] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """The results of one run, and the machine that it was on."""

    machine: dict[str, str]
    quick: bool
    results: list[Result]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Report":
        """Read what `save` has written."""
        found = json.loads(path.read_text(encoding="utf-8"))
        results = [_result(each) for each in found["results"]]
        return cls(found["machine"], found["quick"], results)


def _result(found: dict[str, Any]) -> Result:
    tables = [
        Table(each["title"], [Column(**one) for one in each["columns"]], each["rows"])
        for each in found["tables"]
    ]
    targets = [Target(**each) for each in found["targets"]]
    contrasts = [Contrast(**each) for each in found["contrasts"]]
    return Result(**{**found, "tables": tables, "targets": targets, "contrasts": contrasts})


def ratio(one: float | None, other: float | None) -> float | None:
    """Return how many times `other` is in `one`; None where one of them was not measured."""
    return one / other if one is not None and other else None
