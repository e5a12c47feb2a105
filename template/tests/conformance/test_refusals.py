"""Calls that the store refuses, for now or for good (R25), on every store that can be lost."""

import pytest

from app.dedup.record import Status
from app.dedup.store import Closed, Run, Store, StoreError, Terms
from tests.support.faults import Kind
from tests.support.steps import T, claimed
from tests.support.stores import Harness, lossy

pytestmark = lossy


def test_claim_that_is_refused_is_given_up_at_once(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    """R25: the next delivery may find the store better."""
    store.get(run.run_id, timeout=T)
    harness.faults.calls.clear()
    harness.faults.plan = [Kind.REFUSED]
    with pytest.raises(StoreError, match="injected"):
        store.claim(run, "one", terms, timeout=T)
    assert harness.faults.calls == ["write"]


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED])
def test_finish_that_is_refused_for_a_while_is_made_when_that_is_over(
    harness: Harness, store: Store, other: Store, run: Run, terms: Terms, status: Status
) -> None:
    """R25: a role that is back, a server that has room again."""
    claim = claimed(store, run, "one", terms).claim
    harness.faults.plan = [Kind.REFUSED] * 3
    assert store.finish(claim, status, None, timeout=T) is None
    answer = other.claim(run, "two", terms, timeout=T)
    assert isinstance(answer, Closed)
    assert answer.record.status is status


@pytest.mark.parametrize(
    "plan",
    [
        [Kind.LOST_ANSWER, Kind.REFUSED],
        [Kind.LOST_ANSWER, Kind.REFUSED, Kind.REFUSED, Kind.LOST_ANSWER],
        [Kind.REFUSED, Kind.LOST_ANSWER, Kind.REFUSED],
        [Kind.LOST_REQUEST, Kind.REFUSED],
    ],
)
def test_finish_whose_answer_was_lost_before_a_refusal_is_ones_own(
    harness: Harness, store: Store, run: Run, terms: Terms, plan: list[Kind]
) -> None:
    """R24, R26: what the first try did is no other attempt's work."""
    claim = claimed(store, run, "one", terms).claim
    harness.faults.plan = [*plan]
    assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None


def test_finish_that_is_refused_for_good_ends_with_its_time(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    """R25, R26: with what the store said."""
    claim = claimed(store, run, "one", terms).claim
    harness.faults.calls.clear()
    harness.faults.plan = [Kind.REFUSED] * 100
    clock = harness.clock()
    began = clock.monotonic()
    with pytest.raises(StoreError, match="injected"):
        store.finish(claim, Status.COMPLETED, None, timeout=1.0)
    assert 1.0 <= clock.monotonic() - began < 4.0
    assert 2 <= len(harness.faults.calls) < 20
    harness.faults.plan = []
    assert store.finish(claim, Status.COMPLETED, None, timeout=T) is None
