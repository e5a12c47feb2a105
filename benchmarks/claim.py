"""What it takes to claim a run and to finish it, on each store, against what else one would do."""

import itertools
from collections.abc import Callable
from typing import Any

from benchmarks.parts import Parts
from benchmarks.results import Column, Contrast, Result, Row, Table, Target, ratio
from benchmarks.sides import Pair, Side
from benchmarks.sides.places import STORES, opened
from benchmarks.timing import sampled

ROUNDS, QUICK_ROUNDS = 200, 3

COLUMNS = (
    Column("store", "store"),
    Column("operation", "operation"),
    Column("side", "by"),
    Column("p50", "p50", "ms"),
    Column("p99", "p99", "ms"),
    Column("trips", "round trips", "count"),
    Column("calls", "calls"),
    Column("ratio", "ours to theirs, p50", "times"),
)

_serial = itertools.count(1)


def measure(parts: Parts, *, quick: bool) -> Result:
    """Time and count a new run, a duplicate of a finished one, and a run that fails."""
    omitted: list[str] = []
    rows: list[Row] = []
    for store in STORES:
        with opened(parts, store, omitted) as pairs:
            for name, operation in OPERATIONS.items():
                rows += _compared(store, name, operation, pairs, QUICK_ROUNDS if quick else ROUNDS)
    return Result(
        name="claim",
        question="What do claim and finish cost?",
        method=(
            "One process, one call after the other, with the sides in turns. A new run is claimed"
            " and finished; a duplicate is the claim of a finished run; a failed run is claimed and"
            " released. Round trips are counted apart, on the wire. Firestore and Spanner are"
            " Google's emulators, Redis is a real server, all on this machine: with a network"
            " between them, round trips weigh more than here. On Firestore the other side is the"
            " documented pattern, a transaction each to claim, to finish and to release; on Spanner"
            " two transactions that read and write; on Redis the cache layer of Powertools for AWS"
            " Lambda, which does not check who has the record when it finishes. What takes longer"
            " there is the script, and a record of fifteen fields that people can read, where"
            " Powertools sets one short text."
        ),
        tables=[Table("Claim and finish", COLUMNS, rows)],
        targets=[
            Target(
                "claim and finish on Firestore: at most a third of the documented pattern's p50",
                _ratio(rows, "Firestore"),
                1 / 3,
            ),
            Target(
                "claim and finish on Redis: not slower than Powertools, though ownership is"
                " checked",
                _ratio(rows, "Redis"),
                1.0,
            ),
        ],
        contrasts=[*_contrasts(rows)],
        omitted=omitted,
    )


def _new(side: Side) -> Callable[[], object]:
    def act() -> None:
        side.finish(_claimed(side, _name()))

    return act


def _duplicate(side: Side) -> Callable[[], object]:
    done = _name()
    side.finish(_claimed(side, done))

    def act() -> None:
        if side.claim(done) is not None:
            raise RuntimeError("a finished run was claimed again")

    return act


def _failed(side: Side) -> Callable[[], object]:
    def act() -> None:
        side.release(_claimed(side, _name()))

    return act


OPERATIONS: dict[str, Callable[[Side], Callable[[], object]]] = {
    "new run": _new,
    "duplicate": _duplicate,
    "failed run": _failed,
}
"""What is measured, by name: each makes itself ready on a side and returns what is timed."""


def _compared(
    store: str,
    name: str,
    operation: Callable[[Side], Callable[[], object]],
    pairs: list[Pair],
    rounds: int,
) -> list[Row]:
    actions = {pair.title: operation(pair.timed) for pair in pairs}
    samples = sampled(actions, rounds) if actions else {}
    rows: list[Row] = []
    for pair in pairs:
        calls = _calls(pair, operation)
        rows.append(
            {
                "store": store,
                "operation": name,
                "side": pair.title,
                "p50": samples[pair.title].p50,
                "p99": samples[pair.title].p99,
                "trips": sum(calls.values()) or None,
                "calls": ", ".join(f"{n} {call}" for call, n in calls.items()) or None,
            }
        )
    if len(rows) == 2:
        ours, other = (row["p50"] for row in rows)
        if isinstance(ours, float) and isinstance(other, float):
            rows[0]["ratio"] = ratio(ours, other)
    return rows


def _calls(pair: Pair, operation: Callable[[Side], Callable[[], object]]) -> dict[str, int]:
    action = operation(pair.counted)
    # The first one opens a session, and teaches a script to the server.
    action()
    with pair.calls() as calls:
        action()
    return dict(calls)


def _ratio(rows: list[Row], store: str) -> float | None:
    for row in rows:
        if (row["store"], row["operation"]) == (store, "new run") and "ratio" in row:
            value = row["ratio"]
            return value if isinstance(value, float) else None
    return None


def _contrasts(rows: list[Row]) -> list[Contrast]:
    found = []
    for ours, other in itertools.pairwise(rows):
        times = ours["p50"], other["p50"]
        fits = ours["operation"] == other["operation"] == "new run" and "ratio" in ours
        if fits and isinstance(times[0], float) and isinstance(times[1], float):
            title = f"claim and finish, {ours['store']}, p50"
            found.append(Contrast(title, times[0], times[1], str(other["side"]), "ms"))
    return found


def _name() -> str:
    return f"run-{next(_serial)}"


def _claimed(side: Side, name: str) -> Any:
    claim = side.claim(name)
    if claim is None:
        raise RuntimeError("a new run was refused")
    return claim
