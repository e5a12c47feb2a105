"""How often the store is asked: one call to claim, one to finish."""

from app.dedup.record import Status
from app.dedup.store import Run, Store, Terms
from tests.support.steps import T, claimed, finished, held
from tests.support.stores import Harness

ONE_STEP = ["transaction"]
ONE_SCRIPT = ["write"]


def calls(harness: Harness) -> list[str]:
    made = list(harness.faults.calls)
    harness.faults.calls.clear()
    return made


def test_new_run_is_claimed_in_one_call(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    claimed(store, run, "one", terms)
    assert calls(harness) in (["write"], ONE_STEP)


def test_duplicate_is_recognised_in_two(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    """Bug rows 34 and 39: no retry of a conflict."""
    answer = claimed(store, run, "one", terms)
    calls(harness)
    held(store, run, "two", terms)
    assert calls(harness) in (["write", "read"], ONE_STEP, ONE_SCRIPT)
    finished(store, answer)
    calls(harness)
    store.claim(run, "two", terms, timeout=T)
    assert calls(harness) in (["write", "read"], ONE_STEP, ONE_SCRIPT)


def test_dead_claim_is_taken_over_in_three(
    harness: Harness, store: Store, run: Run, short: Terms
) -> None:
    claimed(store, run, "one", short)
    harness.pass_time(0.4)
    calls(harness)
    claimed(store, run, "two", short)
    assert calls(harness) in (["write", "read", "write"], ONE_STEP, ONE_SCRIPT)


def test_lease_is_renewed_in_one(harness: Harness, store: Store, run: Run, terms: Terms) -> None:
    claim = claimed(store, run, "one", terms).claim
    calls(harness)
    store.renew(claim, timeout=T)
    assert calls(harness) in (["write"], ONE_STEP)


def test_run_is_finished_in_one(harness: Harness, store: Store, run: Run, terms: Terms) -> None:
    claim = claimed(store, run, "one", terms).claim
    calls(harness)
    store.finish(claim, Status.COMPLETED, None, timeout=T)
    assert calls(harness) in (["write"], ONE_STEP)


def test_claim_is_released_in_one(harness: Harness, store: Store, run: Run, terms: Terms) -> None:
    claim = claimed(store, run, "one", terms).claim
    calls(harness)
    store.release(claim, settle=None, timeout=T)
    assert calls(harness) in (["write"], ONE_STEP)
