"""How long a new instance takes to its first answer, what it weighs, and what it imports."""

import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.parts import MissingPartError, Parts
from benchmarks.results import Column, Contrast, Result, Row, Table, Target, ratio
from benchmarks.servers import BARE, CLIENTS, Memory, Projects, Server, store_url
from benchmarks.timing import in_turns
from tests.rendering import clean_environment

ROUNDS, QUICK_ROUNDS = 3, 1
QUICK_FRAMEWORKS, QUICK_STORES = ("flask",), ("sqlite",)
LIMIT: Final = 1.25

COLUMNS = (
    Column("framework", "framework"),
    Column("store", "store"),
    Column("first", "first answer", "ms"),
    Column("alone", "bare framework", "ms"),
    Column("client", "with the client", "ms"),
    Column("ratio", "ours to with the client", "times"),
    Column("rss", "RSS", "MiB"),
    Column("pss", "PSS", "MiB"),
    Column("client_pss", "PSS with the client", "MiB"),
)
IMPORTS = (
    Column("framework", "framework"),
    Column("store", "store"),
    Column("slowest", "slowest imports of main, in ms with what they import"),
)
_LINE: Final = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")


@dataclass(frozen=True)
class _Start:
    seconds: float
    memory: Memory


def measure(parts: Parts, *, quick: bool) -> Result:
    """Start each framework's server on each store, and without the project, again and again."""
    omitted: list[str] = []
    starts: dict[str, Callable[[], _Start]] = {}
    imports: list[Row] = []
    projects = Projects(parts)
    pairs: list[tuple[str, str]] = []
    for framework in QUICK_FRAMEWORKS if quick else BARE:
        starts[f"{framework} bare"] = partial(_start, projects.bare(framework), {})
        for store in QUICK_STORES if quick else CLIENTS:
            try:
                settings = {"RUN_STORE_URL": store_url(parts, store)}
            except MissingPartError as error:
                omitted.append(str(error))
                continue
            pairs.append((framework, store))
            project = projects.rendered(framework, store)
            client = projects.bare(framework, CLIENTS[store])
            starts[f"{framework} {store}"] = partial(_start, project, settings)
            starts[f"{framework} {store} client"] = partial(_start, client, {})
            slowest = _slowest(project, settings)
            imports.append({"framework": framework, "store": store, "slowest": slowest})
    if not quick:
        # The first start of each writes the byte code, as the image's build does.
        for start in starts.values():
            start()
    found = in_turns(starts, QUICK_ROUNDS if quick else ROUNDS, lambda name: starts[name]())
    rows = [_row(framework, store, found) for framework, store in pairs]
    ratios = [row["ratio"] for row in rows if isinstance(row["ratio"], float)]
    return Result(
        name="start",
        question="How long does a new instance take?",
        method=(
            "Medians of the time from the start of the process to the first answer, to"
            " `GET /health`, against the same framework and server with a handler that does"
            " nothing, alone and with the store's client imported. All take turns. RSS and PSS are"
            " of all processes of an idle server that has answered once; memory that processes"
            " share counts in full in RSS, once in PSS."
        ),
        tables=[
            Table("First answer after the start", COLUMNS, rows),
            Table("What is imported", IMPORTS, imports),
        ],
        targets=[
            Target(
                "first answer after the start, worst of all: at most 1.25 times that of the bare"
                " framework with the same client imported",
                max(ratios, default=None),
                LIMIT,
            )
        ],
        contrasts=[*filter(None, map(_contrast, rows))],
        omitted=sorted(set(omitted)),
    )


def _row(framework: str, store: str, found: dict[str, list[_Start]]) -> Row:
    ours, client = found[f"{framework} {store}"], found[f"{framework} {store} client"]
    return {
        "framework": framework,
        "store": store,
        "first": _median(ours),
        "alone": _median(found[f"{framework} bare"]),
        "client": _median(client),
        "ratio": ratio(_median(ours), _median(client)),
        "rss": ours[-1].memory.rss,
        "pss": ours[-1].memory.pss,
        "client_pss": client[-1].memory.pss,
    }


def _contrast(row: Row) -> Contrast | None:
    first, client = row["first"], row["client"]
    if row["store"] != "firestore" or not isinstance(first, float) or not isinstance(client, float):
        return None
    title = f"first answer, {row['framework']} and Firestore"
    return Contrast(title, first, client, "bare, with the client", "ms")


def _start(folder: Path, settings: dict[str, str]) -> _Start:
    with Server(folder, settings) as server:
        return _Start(server.start_seconds, server.memory())


def _median(starts: list[_Start]) -> float:
    return 1000 * statistics.median(start.seconds for start in starts)


def _slowest(project: Path, settings: dict[str, str]) -> str:
    command = [sys.executable, "-X", "importtime", "-c", "import main"]
    environ = {**clean_environment(), "AUTH": "off", **settings}
    environ.pop("PYTHONPATH", None)
    output = subprocess.run(
        command, cwd=project, env=environ, capture_output=True, text=True, check=True
    ).stderr
    lines = [match for match in map(_LINE.match, output.splitlines()) if match]
    # What `main` imports stands three levels of two spaces below the line of main itself.
    top = [(int(line[2]), line[4]) for line in lines if len(line[3]) <= 6 and line[4] != "main"]
    return ", ".join(f"{name} {micros / 1000:.0f}" for micros, name in sorted(top)[:-7:-1])
