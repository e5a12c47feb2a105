"""`python -m proof.soak`: soak a store, print the figures, and fail if anything is wrong."""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from app.dedup.delivery import Trigger
from app.dedup.record import Status
from app.dedup.store import Store
from app.dedup.stores import open_store
from tests.support.servers import frameworks

from proof.soak.journal import Journal
from proof.soak.scheduler import Planned, Scheduler, Told, plan
from proof.soak.stores import STORES, RunningStore
from proof.soak.trouble import Fleet, Probe, Trouble, refused
from proof.soak.verdict import Verdict, judge

_TIMEOUT = 10.0


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m proof.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="how many runs (10000)")
    parser.add_argument("--store", choices=STORES, default="sqlite")
    parser.add_argument("--seed", type=int, help="makes the same plans again; printed at the start")
    parser.add_argument("--lease", type=float, default=2.0, help="seconds (2)")
    parser.add_argument("--pause", type=float, default=3.0, help="mean seconds between troubles")
    parser.add_argument("--at-once", type=int, default=24, help="runs at the same time (24)")
    known = [framework.name for framework in frameworks()]
    parser.add_argument("--framework", choices=known, help="one of them, in place of all in turn")
    return parser.parse_args(arguments)


def soak(asked: argparse.Namespace, folder: Path, store: RunningStore, seed: int) -> bool:
    """Deliver all runs, amid troubles, and print what became of them."""
    began = time.monotonic()
    journal, told = Journal(folder), Told()
    chosen = [each for each in frameworks() if asked.framework in (None, each.name)]
    shares = [range(number, asked.runs, len(chosen)) for number in range(len(chosen))]
    runs: list[Planned] = []
    with closing(open_store(store.url)) as behind:
        behind.init(timeout=30.0)
        for framework, share in zip(chosen, shares, strict=True):
            fleet = Fleet(framework, store, folder, asked.lease, size=2)
            chance = random.Random(f"{seed}-{framework.name}")
            troubles = Trouble(fleet, store, journal, chance, lease=asked.lease, pause=asked.pause)
            deliver = partial(_deliver, Scheduler(fleet.ports, told), seed, asked.lease)
            try:
                with Probe(behind, journal), troubles, ThreadPoolExecutor(asked.at_once) as pool:
                    runs += pool.map(deliver, share)
            finally:
                fleet.kill()
        verdict = _verdict(runs, journal, told, behind, refused(folder))
    _show(asked, runs, journal, told, verdict, time.monotonic() - began)
    return verdict.is_good


def _deliver(scheduler: Scheduler, seed: int, lease: float, number: int) -> Planned:
    run = plan(number, random.Random(f"{seed}-{number}"), lease)
    scheduler.deliver(run, seed + number)
    return run


def _verdict(
    runs: list[Planned], journal: Journal, told: Told, store: Store, refused: set[str]
) -> Verdict:
    run_ids = [run.run_id() for run in runs]
    records = {record.run_id: record for record in store.get_many(run_ids, timeout=_TIMEOUT)}
    finished_by = {
        run_id: record.attempt_id
        for run_id, record in records.items()
        if record.status is Status.COMPLETED
    }
    eaten = [run.run_id(Trigger.SCHEDULED) for run in runs if run.forced]
    told.wrong += [
        f"the scheduled run {record.run_id} was eaten by a forced one"
        for record in store.get_many(eaten, timeout=_TIMEOUT)
    ]
    work, faults = journal.work(), journal.faults()
    verdict = judge(run_ids, work, faults, finished_by, told.answered, refused)
    verdict.wrong.extend(told.wrong)
    return verdict


def _show(
    asked: argparse.Namespace,
    runs: list[Planned],
    journal: Journal,
    told: Told,
    verdict: Verdict,
    seconds: float,
) -> None:
    faults = Counter(fault.what for fault in journal.faults())
    twice = [each for each in verdict.wrong if "done twice" in each]
    lost = [each for each in verdict.wrong if "is lost" in each]
    rows: list[tuple[str, object]] = [
        ("store", f"{asked.store}, lease {asked.lease:g} s"),
        ("runs", f"{len(runs)}, {sum(run.forced for run in runs)} of them forced"),
        ("deliveries", told.deliveries),
        ("beyond one per run", told.deliveries - len(runs)),
        ("answers", _counts(told.answers)),
        ("troubles", _counts(faults)),
        ("done once", verdict.once),
        ("done again, as recovered", verdict.again),
        ("because of", _counts(verdict.because)),
        ("done twice without a cause", len(twice)),
        ("lost", len(lost)),
        ("wrong besides", len(verdict.wrong) - len(twice) - len(lost)),
        (
            "recovery after a kill",
            f"p50 {verdict.recovery(50):.1f} s, p99 {verdict.recovery(99):.1f} s,"
            f" of {len(verdict.recoveries)} interrupted attempts",
        ),
        ("took", f"{seconds:.0f} s"),
    ]
    for name, value in rows:
        print(f"{name + ':':28}{value}")
    for each in verdict.wrong[:20]:
        print(f"WRONG: {each}")


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "nothing"


def main() -> None:
    """Run the soak; the exit status is 1 if anything is wrong."""
    asked = options()
    seed = random.SystemRandom().randrange(1 << 32) if asked.seed is None else asked.seed
    print(f"seed: {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    with pytest.MonkeyPatch.context() as patch, STORES[asked.store](folder) as store:
        for variable, value in store.environ.items():
            patch.setenv(variable, value)
        good = soak(asked, folder, store, seed)
    if not good:
        print(f"The journal and the servers' logs are in {folder}.")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
