"""What happens when one run is delivered many times at once."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.parts import Parts
from benchmarks.results import Column, Contrast, Result, Row, Table, Target, ratio
from benchmarks.sides import Pair, Side
from benchmarks.sides.places import opened
from benchmarks.timing import Sample, in_turns

STORES = ("Firestore", "Redis")
DELIVERIES = 16
ROUNDS, QUICK_ROUNDS = 5, 1

COLUMNS = (
    Column("store", "store"),
    Column("side", "by"),
    Column("p50", "p50", "ms"),
    Column("p99", "p99", "ms"),
    Column("deliveries", "deliveries", "count"),
    Column("errors", "errors", "count"),
    Column("runs", "times done per run", "mean"),
    Column("trips", "round trips per delivery", "mean"),
    Column("ratio", "ours to theirs, p50", "times"),
)

_serial = itertools.count(1)


@dataclass(frozen=True)
class _Storm:
    """How the deliveries of one run went."""

    seconds: tuple[float, ...]
    errors: int
    done: int


def measure(parts: Parts, *, quick: bool) -> Result:
    """Deliver one run after another by many threads at once."""
    omitted: list[str] = []
    rows: list[Row] = []
    for store in STORES:
        with opened(parts, store, omitted) as pairs:
            rows += _compared(store, pairs, quick=quick)
    firestore = [row for row in rows if row["store"] == "Firestore"]
    share = firestore[0]["ratio"] if firestore else None
    errors = firestore[0]["errors"] if firestore else None
    return Result(
        name="contention",
        question=f"What if one run is delivered {DELIVERIES} times at once?",
        method=(
            f"{DELIVERIES} threads of one process begin together, each with a claim of one run;"
            " whoever gets it finishes it at once. A delivery's time is until its answer: done,"
            " duplicate, in progress, or an error. The sides take turns. Round trips are counted in"
            " a round of their own."
        ),
        tables=[Table(f"{DELIVERIES} simultaneous deliveries of one run", COLUMNS, rows)],
        targets=[
            Target(
                f"{DELIVERIES} duplicates on Firestore: no error",
                float(errors) if isinstance(errors, int) else None,
                0.0,
            ),
            Target(
                f"{DELIVERIES} duplicates on Firestore: at most a twentieth of the documented"
                " pattern's p50",
                share if isinstance(share, float) else None,
                1 / 20,
            ),
        ],
        contrasts=_contrasts(rows),
        omitted=omitted,
    )


def _compared(store: str, pairs: list[Pair], *, quick: bool) -> list[Row]:
    sides = {pair.title: pair for pair in pairs}
    rounds = QUICK_ROUNDS if quick else ROUNDS
    for pair in pairs:
        # Connections are there before they are needed, and a server has learnt its scripts.
        for side in (pair.timed, pair.counted):
            _storm(side, 1 if quick else DELIVERIES)
    storms = in_turns(sides, rounds, lambda name: _storm(sides[name].timed)) if pairs else {}
    rows: list[Row] = []
    for name, found in storms.items():
        with sides[name].calls() as calls:
            _storm(sides[name].counted)
        sample = Sample(tuple(second for storm in found for second in storm.seconds))
        rows.append(
            {
                "store": store,
                "side": name,
                "p50": sample.p50,
                "p99": sample.p99,
                "deliveries": DELIVERIES * rounds,
                "errors": sum(storm.errors for storm in found),
                "runs": sum(storm.done for storm in found) / rounds,
                "trips": sum(calls.values()) / DELIVERIES,
            }
        )
    if len(rows) == 2:
        ours, other = (row["p50"] for row in rows)
        if isinstance(ours, float) and isinstance(other, float):
            rows[0]["ratio"] = ratio(ours, other)
    return rows


def _storm(side: Side, deliveries: int = DELIVERIES) -> _Storm:
    name = f"storm-{next(_serial)}"
    together = threading.Barrier(deliveries)

    def deliver(_: int) -> tuple[float, bool | None]:
        together.wait()
        began = time.perf_counter()
        done: bool | None
        try:
            claim = side.claim(name)
            if claim is not None:
                side.finish(claim)
            done = claim is not None
        # Whatever a side raises, its caller would get a 500.
        except Exception:
            done = None
        return time.perf_counter() - began, done

    with ThreadPoolExecutor(deliveries) as threads:
        answers = list(threads.map(deliver, range(deliveries)))
    return _Storm(
        tuple(seconds for seconds, _ in answers),
        errors=sum(done is None for _, done in answers),
        done=sum(done is True for _, done in answers),
    )


def _contrasts(rows: list[Row]) -> list[Contrast]:
    found = []
    for ours, other in itertools.pairwise(rows):
        times = ours["p50"], other["p50"]
        if "ratio" in ours and isinstance(times[0], float) and isinstance(times[1], float):
            title = f"{DELIVERIES} duplicates at once, {ours['store']}, p50"
            found.append(Contrast(title, times[0], times[1], str(other["side"]), "ms"))
    return found
