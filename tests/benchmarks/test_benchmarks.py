"""Each benchmark runs, at its quick size, and what it counts is right. No test is about a time."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rendering import ROOT, clean_environment

pytestmark = pytest.mark.slow

Row = dict[str, Any]

OPERATIONS = ("new run", "duplicate", "failed run")


class Run:
    """What a quick run of some benchmarks has found."""

    def __init__(self, folder: Path, *names: str) -> None:
        kept = folder / "results.json"
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks", *names, "--quick", "--json", str(kept)],
            cwd=ROOT,
            env={**clean_environment(), "PYTHONPATH": os.pathsep.join([".", "template"])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        self.printed = result.stdout
        found = json.loads(kept.read_text())
        assert found["quick"], "the results say that they are no measurement to quote"
        self.results: dict[str, Any] = {each["name"]: each for each in found["results"]}
        assert list(self.results) == list(names)

    def rows(self, name: str) -> list[Row]:
        """The rows of a benchmark's first table, in which every figure makes sense."""
        table = self.results[name]["tables"][0]
        rows: list[Row] = table["rows"]
        for row in rows:
            for column in table["columns"]:
                value = row.get(column["key"])
                if column["unit"] and value is not None:
                    assert value >= 0, (row, column)
            assert row.get("p50", 0) <= row.get("p99", float("inf"))
        return rows

    def stores(self, *wanted: str) -> set[str]:
        """Those of the stores that this machine has; all of them with REQUIRE_STORES=1 (CI)."""
        omitted = {part for each in self.results.values() for part in each["omitted"]}
        if omitted and os.environ.get("REQUIRE_STORES") == "1":
            pytest.fail(f"required here: {', '.join(sorted(omitted))}")
        return {store for store in wanted if not any(store in part for part in omitted)}


def test_claims_take_the_promised_round_trips_and_storms_make_no_error(tmp_path: Path) -> None:
    """One to claim, one to finish; two for a duplicate, one on Redis (design: round trips).

    It is one test for all of it, so that the emulators are started once.
    """
    run = Run(tmp_path, "claim", "cost", "contention")
    check_claims(run)
    check_costs(run)
    check_storms(run)


def check_claims(run: Run) -> None:
    rows = run.rows("claim")
    stores = run.stores("Firestore", "Spanner", "Redis")
    trips = {(row["store"], row["operation"], row["side"]): row["trips"] for row in rows}
    ours = {key[:2]: count for key, count in trips.items() if key[2] == "scheduler-once"}
    for store in stores:
        assert ours[store, "new run"] == 2
        assert ours[store, "duplicate"] == (1 if store == "Redis" else 2)
        assert ours[store, "failed run"] == 2
    if "Firestore" in stores:
        documented = [trips["Firestore", name, "documented pattern"] for name in OPERATIONS]
        assert documented == [6, 3, 6]
    if "Spanner" in stores:
        assert trips["Spanner", "new run", "two transactions"] >= 4
    if "Redis" in stores:
        assert [trips["Redis", name, "Powertools"] for name in OPERATIONS] == [2, 2, 2]
    assert ("SQLite", "new run") in ours


def check_costs(run: Run) -> None:
    stores = run.stores("Firestore", "Spanner", "Redis")
    costs = {(row["store"], row["side"], row["case"]): row for row in run.rows("cost")}
    for store in stores:
        case = costs[store, "scheduler-once", "each delivered once"]
        assert (case["trips"], case["writes"], case["reads"]) == (2000, 2000, 0)
        often = costs[store, "scheduler-once", "each of 600 s, 29 renewals"]
        assert often["trips"] == 2000 + 29_000


def check_storms(run: Run) -> None:
    rows = run.rows("contention")
    stores = run.stores("Firestore", "Redis")
    assert {row["store"] for row in rows} == stores
    for row in rows:
        assert row["deliveries"] == 16
        if row["side"] == "scheduler-once":
            assert (row["errors"], row["runs"]) == (0, 1)


def test_servers_take_every_run(tmp_path: Path) -> None:
    run = Run(tmp_path, "throughput")
    rows = run.rows("throughput")
    stores = {"nothing", "sqlite"} | ({"redis"} if run.stores("Redis") else set())
    assert {(row["store"], row["concurrent"]) for row in rows} == {
        (store, concurrent) for store in stores for concurrent in (1, 8, 64)
    }
    assert all(row["errors"] == 0 and row["rate"] > 0 for row in rows)


def test_starts_renders_and_growth_are_measured(tmp_path: Path) -> None:
    run = Run(tmp_path, "start", "render", "growth")
    (start,) = run.rows("start")
    assert start["first"] > 0
    assert start["client"] > 0
    assert start["rss"] > (start["pss"] or 0)
    imports = run.results["start"]["tables"][1]["rows"][0]["slowest"]
    assert "app." in imports
    assert all(row["files"] > 50 for row in run.rows("render"))
    grown = run.rows("growth")
    wanted = {"SQLite"} | run.stores("Redis")
    assert {(row["store"], row["records"]) for row in grown} == {
        (store, size) for store in wanted for size in (10, 1000)
    }
    assert "hoped for at most 1.25" in run.printed
