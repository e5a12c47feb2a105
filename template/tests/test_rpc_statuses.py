"""Every call of a store that is asked by gRPC, ended by every status (R25, R26; bug row 31).

A status leaves it unclear whether the call happened, says that it did not, or says that a condition
did not hold, which whoever repeats a call on its way can hear about the call itself. Each of them
ends in the right state of the record, with an answer or with a typed error that has its cause.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module

import pytest

from app.dedup.record import Status
from app.dedup.store import Claim, Held, Run, Store, StoreError, Terms
from app.dedup.stores.conditional import Unclear
from tests.support.faults import Kind
from tests.support.rpc import CODES, REFUSALS
from tests.support.steps import T, claimed
from tests.support.stores import MODULES, Harness
from tests.support.stores import __name__ as stores

pytestmark = pytest.mark.parametrize(
    "harness",
    [name for name in MODULES if hasattr(import_module(f"{stores}.{name}"), "Interceptor")],
    indirect=True,
)

DEAD = {"status": "in_progress", "attempt_id": "dead", "lease_seconds": 0.0}


@dataclass(frozen=True, slots=True)
class Case:
    """A run for a call of a store. `claim` is that of attempt `one`, where the call needs one."""

    harness: Harness
    store: Store
    run: Run
    terms: Terms

    def held(self) -> Claim:
        return claimed(self.store, self.run, "one", self.terms).claim

    def owner(self) -> str | None:
        record = self.store.get(self.run.run_id, timeout=T)
        return record.attempt_id if record else None

    def is_claimed(self, *, recovered: bool) -> None:
        claim = claimed(self.store, self.run, "one", self.terms).claim
        assert claim.recovered is recovered
        assert self.owner() == "one"


Act = Callable[[], None]
"""Make the call, and assert that its effect is there. The plan of faults is set before it."""


def claim(case: Case) -> Act:
    return lambda: case.is_claimed(recovered=False)


def takeover(case: Case) -> Act:
    case.harness.plant(case.run.run_id, DEAD)
    return lambda: case.is_claimed(recovered=True)


def duplicate(case: Case) -> Act:
    case.held()

    def act() -> None:
        assert isinstance(case.store.claim(case.run, "two", case.terms, timeout=T), Held)
        assert case.owner() == "one"

    return act


def renew(case: Case) -> Act:
    held = case.held()

    def act() -> None:
        renewed = case.store.renew(held, timeout=T)
        assert isinstance(renewed, Claim)
        assert renewed.stamp.version != held.stamp.version
        assert case.store.finish(renewed, Status.COMPLETED, None, timeout=T) is None

    return act


def finish(case: Case) -> Act:
    held = case.held()

    def act() -> None:
        assert case.store.finish(held, Status.COMPLETED, '{"a":1}', timeout=T) is None
        record = case.store.get(case.run.run_id, timeout=T)
        assert record is not None
        assert (record.status, record.result) == (Status.COMPLETED, {"a": 1})

    return act


def release(case: Case) -> Act:
    held = case.held()

    def act() -> None:
        case.store.release(held, settle=None, timeout=T)
        assert case.harness.raw(case.run.run_id) is None

    return act


def settle(case: Case) -> Act:
    held = case.held()

    def act() -> None:
        assert case.store.release(held, settle=0.0, timeout=T) is None
        assert claimed(case.store, case.run, "two", case.terms).claim.recovered

    return act


def get(case: Case) -> Act:
    case.held()

    def act() -> None:
        assert case.owner() == "one"

    return act


UNCLEAR_WRITE = (Kind.LOST_ANSWER, "UNAVAILABLE")
ACTS: dict[str, tuple[Callable[[Case], Act], str, list[Kind | tuple[Kind, str]]]] = {
    "claim": (claim, "create", []),
    "claim read back": (claim, "read", [UNCLEAR_WRITE]),
    "duplicate's read": (duplicate, "read", [Kind.NONE]),
    "takeover's read": (takeover, "read", [Kind.NONE]),
    "takeover": (takeover, "change", [Kind.NONE, Kind.NONE]),
    "takeover read back": (takeover, "read", [Kind.NONE, Kind.NONE, UNCLEAR_WRITE]),
    "renew": (renew, "change", []),
    "renew read back": (renew, "read", [UNCLEAR_WRITE]),
    "finish": (finish, "change", []),
    "finish read back": (finish, "read", [UNCLEAR_WRITE]),
    "release": (release, "change", []),
    "release read back": (release, "read", [UNCLEAR_WRITE]),
    "settle": (settle, "change", []),
    "get": (get, "read", []),
}
"""How a case is made, what kind of call is hit, and what happens to the calls before it."""

each_call = pytest.mark.parametrize("name", ACTS)


def cases(
    harness: Harness, store: Store, run: Run, terms: Terms, codes: set[str]
) -> Iterator[tuple[str, Case]]:
    for number, code in enumerate(sorted(codes)):
        yield code, Case(harness, store, replace(run, run_id=str(number).zfill(64)), terms)
        assert harness.faults.plan == []


def conflicts(harness: Harness, call: str) -> frozenset[str]:
    return harness.conflicts.get(call, frozenset())


@each_call
@pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
def test_each_status_that_leaves_doubt_is_resolved(
    harness: Harness,
    store: Store,
    run: Run,
    terms: Terms,
    name: str,
    kind: Kind,
    record_property: Callable[[str, object], None],
) -> None:
    """R15, R20, R26: the call is made, once, in the time that it has."""
    prepared, call, before = ACTS[name]
    codes = {*CODES} - REFUSALS | conflicts(harness, call)
    record_property(f"lost acknowledgements of {harness.name}, calls x statuses", len(codes))
    for code, case in cases(harness, store, run, terms, codes):
        act = prepared(case)
        harness.faults.plan = [*before, (kind, code)]
        act()


@each_call
def test_each_refusal_ends_the_call_at_once_and_changes_nothing(
    harness: Harness, store: Store, run: Run, terms: Terms, name: str
) -> None:
    """R25: it is not asked again, except for the end of a run, whose work is done."""
    prepared, call, before = ACTS[name]
    codes = {*REFUSALS} - conflicts(harness, call)
    for code, case in cases(harness, store, run, terms, codes):
        act = prepared(case)
        found = harness.raw(case.run.run_id)
        harness.faults.calls.clear()
        harness.faults.plan = [*before, (Kind.LOST_REQUEST, code)]
        if prepared is finish:
            act()
            continue
        with pytest.raises(StoreError, match="injected") as caught:
            act()
        assert not isinstance(caught.value, Unclear)
        assert caught.value.__cause__ is not None
        assert len(harness.faults.calls) == len(before) + 1
        if UNCLEAR_WRITE not in before:
            assert harness.raw(case.run.run_id) == found
