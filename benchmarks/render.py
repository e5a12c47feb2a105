"""How long it takes to make a project."""

import itertools
from functools import partial
from pathlib import Path

import yaml

from benchmarks.parts import Parts
from benchmarks.results import Column, Result, Row, Table
from benchmarks.timing import sampled
from tests.rendering import ROOT, commit, files_of, render, snapshot

ROUNDS, QUICK_ROUNDS = 3, 1
QUICK_PROFILES = 2

COLUMNS = (
    Column("profile", "profile"),
    Column("p50", "p50", "ms"),
    Column("files", "files", "count"),
)


def measure(parts: Parts, *, quick: bool) -> Result:
    """Render each profile of examples/, in turns."""
    template = snapshot(parts.folder / "repository")
    commit(template, "The template")
    paths = sorted(ROOT.glob("examples/*.yml"))[: QUICK_PROFILES if quick else None]
    profiles = {path.stem: path for path in paths}
    made: dict[str, Path] = {}
    numbers = itertools.count(1)

    def make(name: str) -> None:
        answers = yaml.safe_load(profiles[name].read_text())
        folder = parts.folder / "rendered" / f"{name}-{next(numbers)}"
        made[name] = render(template, folder, answers)

    sides = {name: partial(make, name) for name in profiles}
    samples = sampled(sides, QUICK_ROUNDS if quick else ROUNDS, warm=not quick)
    rows: list[Row] = [
        {"profile": name, "p50": sample.p50, "files": len(files_of(made[name]))}
        for name, sample in samples.items()
    ]
    return Result(
        name="render",
        question="How long does it take to make a project?",
        method=(
            "`copier copy` of each answers file in examples/, from a Git repository on this"
            " machine, in a process that has Copier loaded already. The profiles take turns."
        ),
        tables=[Table("Making a project", COLUMNS, rows)],
    )
