"""Calls whose request or answer gets lost (R26; bug rows 32, 33, 37, 38), on every store.

Every plan of up to two faults is tried at every operation, with each status that leaves it
unclear whether the call happened.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import pytest

from app.dedup.record import Status
from app.dedup.store import Claim, Claimed, Closed, Run, Store, StoreError, Terms
from tests.support.faults import Kind
from tests.support.steps import T, claimed, held
from tests.support.stores import Harness, lossy

pytestmark = lossy

KINDS = (Kind.NONE, Kind.LOST_REQUEST, Kind.LOST_ANSWER)
PLANS = [(kind,) for kind in KINDS] + list(product(KINDS, repeat=2))
FAULTY = [plan for plan in PLANS if set(plan) != {Kind.NONE}]


@pytest.fixture(params=FAULTY, ids=lambda plan: "+".join(kind.name for kind in plan).lower())
def plan(request: pytest.FixtureRequest) -> list[Kind]:
    """What happens to the next calls."""
    return list(request.param)


def each_code(harness: Harness, run: Run) -> Iterator[Run]:
    """Yield a run for each status of an unclear answer."""
    for number, code in enumerate(harness.codes):
        harness.faults.code = code
        yield replace(run, run_id=str(number) * 64)


def test_claim_is_made_and_is_ones_own(
    harness: Harness, store: Store, run: Run, terms: Terms, plan: list[Kind]
) -> None:
    """R15: nobody gets `in progress` from himself."""
    for each in each_code(harness, run):
        harness.faults.plan = [*plan]
        assert not claimed(store, each, "one", terms).claim.recovered
        record = store.get(each.run_id, timeout=T)
        assert record is not None
        assert record.held_by("one")


@pytest.mark.parametrize("later", [0, 1, 2])
def test_takeover_is_made_and_knows_that_it_is_one(
    harness: Harness, store: Store, run: Run, terms: Terms, plan: list[Kind], later: int
) -> None:
    """R13."""
    for each in each_code(harness, run):
        harness.plant(each.run_id, {"status": "in_progress", "lease_seconds": 0})
        harness.faults.plan = [*[Kind.NONE] * later, *plan]
        assert claimed(store, each, "one", terms).claim.recovered


def test_duplicate_is_recognised(
    harness: Harness, store: Store, other: Store, run: Run, terms: Terms, plan: list[Kind]
) -> None:
    """R11, R12, R14."""
    for each in each_code(harness, run):
        claim = claimed(store, each, "one", terms).claim
        before = harness.raw(each.run_id)
        harness.faults.plan = [*plan]
        held(other, each, "two", terms)
        assert harness.raw(each.run_id) == before
        store.finish(claim, Status.COMPLETED, None, timeout=T)
        harness.faults.plan = [*plan]
        assert isinstance(other.claim(each, "two", terms, timeout=T), Closed)


def test_lease_is_renewed(
    harness: Harness, store: Store, run: Run, terms: Terms, plan: list[Kind]
) -> None:
    """R18: and the next write goes through in one call."""
    for each in each_code(harness, run):
        claim = claimed(store, each, "one", terms).claim
        harness.faults.plan = [*plan]
        answer = store.renew(claim, timeout=T)
        assert isinstance(answer, Claim)
        assert answer.stamp.version != claim.stamp.version
        harness.faults.plan = []
        harness.faults.calls.clear()
        assert store.finish(answer, Status.COMPLETED, None, timeout=T) is None
        assert harness.faults.calls == ["write"]


def test_run_is_finished_once(
    harness: Harness, store: Store, run: Run, terms: Terms, plan: list[Kind]
) -> None:
    """R20; weakness 3: a recorded end is not answered with an error."""
    for each in each_code(harness, run):
        claim = claimed(store, each, "one", terms).claim
        harness.faults.plan = [*plan]
        assert store.finish(claim, Status.COMPLETED, '{"a":1}', timeout=T) is None
        record = store.get(each.run_id, timeout=T)
        assert record is not None
        assert record.status is Status.COMPLETED
        assert record.result == {"a": 1}


@pytest.mark.parametrize("settle", [None, 0.0])
def test_claim_is_released(
    harness: Harness,
    store: Store,
    other: Store,
    run: Run,
    terms: Terms,
    plan: list[Kind],
    settle: float | None,
) -> None:
    """R21, R22."""
    for each in each_code(harness, run):
        claim = claimed(store, each, "one", terms).claim
        harness.faults.plan = [*plan]
        assert store.release(claim, settle=settle, timeout=T) is None
        assert claimed(other, each, "two", terms).claim.recovered is (settle is not None)


@pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
@pytest.mark.parametrize("count", range(1, 16))
def test_claim_with_many_lost_calls_ends_as_ones_own_or_not_at_all(
    harness: Harness, store: Store, run: Run, terms: Terms, kind: Kind, count: int
) -> None:
    """R26: bounded; what stays unclear is given back or ends with its lease."""
    each = next(each_code(harness, run))
    harness.faults.plan = [kind] * count
    try:
        answer = store.claim(each, "one", terms, timeout=0.4)
    except StoreError:
        pass
    else:
        assert isinstance(answer, Claimed)
        assert harness.raw(each.run_id) is not None
    assert len(harness.faults.calls) <= 20
    raw = harness.raw(each.run_id)
    assert raw is None or raw["attempt_id"] == "one"


OPERATIONS: dict[str, Callable[[Store, Run, Claim, Terms], object]] = {
    "claim": lambda store, run, claim, terms: store.claim(run, "two", terms, timeout=0.5),
    "renew": lambda store, run, claim, terms: store.renew(claim, timeout=0.5),
    "finish": lambda store, run, claim, terms: store.finish(
        claim, Status.COMPLETED, None, timeout=0.5
    ),
    "release": lambda store, run, claim, terms: store.release(claim, settle=None, timeout=0.5),
    "get": lambda store, run, claim, terms: store.get(run.run_id, timeout=0.5),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_store_that_never_answers_is_given_up_with_its_own_error(
    harness: Harness,
    store: Store,
    run: Run,
    terms: Terms,
    operation: Callable[[Store, Run, Claim, Terms], object],
) -> None:
    """R25, R26; bug rows 12 and 31: a typed error that tells the cause."""
    for each in each_code(harness, run):
        claim = claimed(store, each, "one", terms).claim
        harness.faults.plan = [Kind.LOST_REQUEST] * 100
        with pytest.raises(StoreError, match="injected"):
            operation(store, each, claim, terms)
        harness.faults.plan = []
