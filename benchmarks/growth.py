"""Whether claim and finish slow down as records pile up."""

import itertools
import os
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from typing import Final

from app.dedup.delivery import digest
from app.dedup.stores import open_store
from redis import Redis

from benchmarks.parts import Parts, optional
from benchmarks.results import Column, Result, Row, Table, ratio
from benchmarks.sides.ours import Ours
from benchmarks.timing import sampled

SIZES, QUICK_SIZES = (10, 1_000, 10_000, 100_000), (10, 1_000)
ROUNDS, QUICK_ROUNDS = 100, 3
_PAGE: Final = 10_000

COLUMNS = (
    Column("store", "store"),
    Column("records", "records", "count"),
    Column("p50", "p50", "ms"),
    Column("p99", "p99", "ms"),
    Column("ratio", "p50 to that of the smallest", "times"),
)

_serial = itertools.count(1)


def measure(parts: Parts, *, quick: bool) -> Result:
    """Claim and finish new runs in stores of several sizes, in turns."""
    omitted: list[str] = []
    rows: list[Row] = []
    sizes, rounds = (QUICK_SIZES, QUICK_ROUNDS) if quick else (SIZES, ROUNDS)
    for store, open_filled in (("SQLite", _sqlite), ("Redis", _redis)):
        with optional(omitted), ExitStack() as stack:
            sides: dict[str, Callable[[], object]] = {}
            for size in sizes:
                side = open_filled(parts, size)
                stack.callback(side.close)
                sides[str(size)] = partial(_run, side)
            smallest: float | None = None
            for records, sample in sampled(sides, rounds).items():
                smallest = smallest or sample.p50
                rows.append(
                    {
                        "store": store,
                        "records": int(records),
                        "p50": sample.p50,
                        "p99": sample.p99,
                        "ratio": ratio(sample.p50, smallest),
                    }
                )
    return Result(
        name="growth",
        question="Do claim and finish slow down as records pile up?",
        method=(
            "A new run is claimed and finished in stores that hold so many copies of a finished"
            " run's record; the stores take turns. SQLite waits for the disk at each commit, which"
            " is most of its time."
        ),
        tables=[Table("Claim and finish among other records", COLUMNS, rows)],
        omitted=omitted,
    )


def _run(side: Ours) -> None:
    claim = side.claim(f"grown-{next(_serial)}")
    if claim is None:
        raise RuntimeError("a new run was refused")
    side.finish(claim)


def _sqlite(parts: Parts, size: int) -> Ours:
    path = parts.folder / f"grown-{size}.db"
    side = Ours(open_store(f"sqlite://{os.sep}{path}"))
    _run(side)
    with closing(sqlite3.connect(path)) as db, db:
        names = [row[1] for row in db.execute("PRAGMA table_info(scheduler_runs)")][1:]
        columns = ", ".join(names)
        copy = f"INSERT INTO scheduler_runs SELECT ?, {columns} FROM scheduler_runs LIMIT 1"  # noqa: S608
        db.executemany(copy, ((_key(number),) for number in range(1, size)))
    return side


def _redis(parts: Parts, size: int) -> Ours:
    prefix = f"grown-{size}:"
    side = Ours(open_store(f"redis://127.0.0.1:{parts.redis}?prefix={prefix}"))
    _run(side)
    with Redis(port=parts.redis) as client:
        first = next(client.scan_iter(match=f"{prefix}*", count=_PAGE))
        record, left = client.dump(first), client.pttl(first)
        for start in range(1, size, _PAGE):
            pipeline = client.pipeline(transaction=False)
            for number in range(start, min(start + _PAGE, size)):
                pipeline.restore(prefix + _key(number), left, record)
            pipeline.execute()
    return side


def _key(number: int) -> str:
    return digest("growth", str(number))
