"""What runs cost in operations of the store, computed from calls that were counted."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from benchmarks.parts import Parts
from benchmarks.results import Column, Result, Row, Table
from benchmarks.sides import LEASE, Pair
from benchmarks.sides.ours import Ours
from benchmarks.sides.places import opened

RUNS: Final = 1000
STORES: Final = ("Firestore", "Spanner", "Redis")
WORK: Final = 600.0
"""Seconds of the work of a long run."""

_READS: Final = frozenset({"BatchGetDocuments", "ExecuteSql", "StreamingRead", "GET"})
_WRITES: Final = frozenset({"Commit", "EVALSHA", "SET", "DEL"})

COLUMNS = (
    Column("store", "store"),
    Column("side", "by"),
    Column("case", f"{RUNS:,} runs"),
    Column("trips", "round trips", "count"),
    Column("writes", "writes", "count"),
    Column("reads", "reads", "count"),
)


class Counts:
    """The calls of each operation of one side."""

    def __init__(self, pair: Pair) -> None:
        side = pair.counted
        prefix = f"cost-{pair.title}"

        def counted(action: Callable[[], object]) -> Counter[str]:
            with pair.calls() as calls:
                action()
            return Counter(calls)

        # The first run opens a session, and teaches each script to the server.
        side.finish(side.claim(f"{prefix}-first"))
        claims: list[object] = []
        self.claim = counted(lambda: claims.append(side.claim(f"{prefix}-new")))
        self.finish = counted(lambda: side.finish(claims[0]))
        self.duplicate = counted(lambda: side.claim(f"{prefix}-new"))
        self.renew: Counter[str] | None = None
        self.takeover: Counter[str] | None = None
        if isinstance(side, Ours):
            claim = side.claim(f"{prefix}-renewed")
            if claim is None:
                raise RuntimeError("a new run was refused")
            renewed = side.renew(claim)
            self.renew = counted(lambda: side.renew(renewed))
            side.die(f"{prefix}-dead")
            self.takeover = counted(lambda: side.claim(f"{prefix}-dead"))

    @property
    def run(self) -> Counter[str]:
        """The calls of a new run."""
        return self.claim + self.finish


def measure(parts: Parts, *, quick: bool) -> Result:
    """Count each operation once, and compute what typical thousands of runs come to."""
    omitted: list[str] = []
    rows: list[Row] = []
    for store in STORES:
        with opened(parts, store, omitted) as pairs:
            for pair in pairs:
                counts = Counts(pair)
                for case, calls in _cases(counts).items():
                    rows.append({"store": store, "side": pair.title, "case": case, **_sum(calls)})
    return Result(
        name="cost",
        question=f"What do {RUNS:,} runs cost in operations?",
        method=(
            "Computed from calls that were counted once for each operation, so load does not"
            f" matter. A long run works for {WORK:.0f} s under a lease of {LEASE:.0f} s, which is"
            " renewed every third of it; who else is compared renews nothing, and an attempt that"
            " takes longer than its lease is done twice. Writes and reads are Commit and reading"
            " calls, or commands of Redis; the rest of the round trips begin transactions. A failed"
            " write of a duplicate counts. Besides, Firestore counts one deletion by TTL for each"
            " run. Prices are on the pages of each product; [costs](costs.md) says what is"
            " counted where."
        ),
        tables=[Table("Operations of the store", COLUMNS, rows)],
        omitted=omitted,
    )


def _cases(counts: Counts) -> dict[str, Counter[str]]:
    """Return the calls of so many runs, by what happens to them."""
    new = _times(counts.run, RUNS)
    cases = {"each delivered once": new}
    for percent in (1, 5, 20):
        again = _times(counts.duplicate, RUNS * percent // 100)
        cases[f"{percent} % delivered twice"] = new + again
    if counts.renew is not None:
        renewals = int(WORK / (LEASE / 3)) - 1
        cases[f"each of {WORK:.0f} s, {renewals} renewals"] = new + _times(
            counts.renew, RUNS * renewals
        )
    if counts.takeover is not None:
        cases["1 % crash and are taken over"] = new + _times(counts.takeover, RUNS // 100)
    return cases


def _times(calls: Counter[str], number: int) -> Counter[str]:
    return Counter({name: number * count for name, count in calls.items()})


def _sum(calls: Counter[str]) -> dict[str, int]:
    return {
        "trips": calls.total(),
        "writes": sum(count for name, count in calls.items() if name in _WRITES),
        "reads": sum(count for name, count in calls.items() if name in _READS),
    }
