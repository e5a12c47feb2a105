"""Many at once (R10, R13; bug rows 6, 35, 45), on every store."""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier
from typing import TypeVar

import pytest

from app.dedup.store import Claim, ClaimAnswer, Claimed, Held, Run, Store, Terms
from app.dedup.stores import budget
from tests.support.steps import claimed
from tests.support.stores import Harness

Answer = TypeVar("Answer")

THREADS = 16
NEW_KEYS = 300
KEYS = 20
T = 120.0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call wait as long as it takes: a busy machine may have better things to do."""
    monkeypatch.setattr(budget, "CALL_TIMEOUT", T)


def at_once(count: int, act: Callable[[int], Answer]) -> list[Answer]:
    """Call `act` from `count` threads that start together."""
    barrier = Barrier(count)

    def one(number: int) -> Answer:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def claim_as(store: Store, run: Run, terms: Terms, number: int) -> ClaimAnswer:
    return store.claim(run, f"attempt {number}", terms, timeout=T)


def kinds(answers: Iterable[ClaimAnswer]) -> Counter[type]:
    return Counter(type(answer) for answer in answers)


def test_new_run_has_one_winner_and_no_error(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    """Bug row 35: of 16 at once, one has claimed it and 15 see that it is in progress."""
    runs = [replace(run, run_id=f"{key:064}") for key in range(NEW_KEYS)]

    def claim_all(number: int) -> list[ClaimAnswer]:
        return [claim_as(store, each, terms, number) for each in runs]

    for answers in zip(*at_once(THREADS, claim_all), strict=True):
        assert kinds(answers) == {Claimed: 1, Held: THREADS - 1}


def test_dead_run_has_one_winner_and_no_error(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    """R13: every loser sees the winner's lease."""
    for key in range(KEYS):
        each = replace(run, run_id=f"{key:064}")
        harness.plant(each.run_id, {"status": "in_progress", "lease_seconds": 0})
        answers = at_once(THREADS, partial(claim_as, store, each, terms))
        assert kinds(answers) == {Claimed: 1, Held: THREADS - 1}


def test_instances_race_like_threads(harness: Harness, run: Run, terms: Terms) -> None:
    """R10: with a store object, and so a cold client, for each."""
    stores = [harness.open() for _ in range(4)]
    answers = at_once(
        THREADS, lambda number: stores[number % 4].claim(run, f"{number}", terms, timeout=T)
    )
    assert kinds(answers) == {Claimed: 1, Held: THREADS - 1}


def test_cold_store_is_opened_once_by_many_threads(
    harness: Harness, run: Run, terms: Terms
) -> None:
    """Bug row 6: 32 threads, each with a run of its own, no error."""
    store = harness.open()
    answers = at_once(
        32, lambda number: store.claim(replace(run, run_id=f"{number:064}"), "x", terms, timeout=T)
    )
    assert kinds(answers) == {Claimed: 32}


def test_renewals_and_takeovers_leave_one_owner(
    harness: Harness, store: Store, run: Run, short: Terms, terms: Terms
) -> None:
    """R19: of a dead claim's renewal and its takeover, exactly one happens."""
    for key in range(KEYS):
        each = replace(run, run_id=f"{key:064}")
        dead = claimed(store, each, "attempt 0", replace(short, lease=0.0)).claim
        act = partial(renew_or_take_over, store, replace(dead, terms=terms))
        assert kinds(at_once(2, act)) == {Claimed: 1, Held: 1}


def renew_or_take_over(store: Store, claim: Claim, number: int) -> ClaimAnswer:
    if number == 0:
        store.renew(claim, timeout=T)
    return claim_as(store, claim.run, claim.terms, number)
