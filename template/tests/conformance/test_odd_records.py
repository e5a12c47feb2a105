"""Records that another version or a person wrote (R17), on every store."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from app.dedup.record import Status
from app.dedup.store import Claimed, Closed, Held, Run, Store, Terms, Unreadable
from tests.support.steps import T, claimed
from tests.support.stores import Harness, RawFields, movable

Planted = Callable[[datetime], RawFields]
HOUR = timedelta(hours=1)

UNREADABLE: dict[str, Planted] = {
    "no fields": lambda now: {"attempt_id": None},
    "no status": lambda now: {"attempt_id": "one", "lease_expires": now - HOUR},
    "unknown status": lambda now: {"status": "released", "lease_seconds": 0},
    "status in capitals": lambda now: {"status": "COMPLETED"},
    "status a number": lambda now: {"status": 1},
    "status empty": lambda now: {"status": ""},
}
ALIVE: dict[str, Planted] = {
    "status only": lambda now: {"status": "in_progress"},
    "sample's shape, lease ahead": lambda now: {
        "status": "in_progress",
        "attempt_id": "one",
        "lease_expires": now + HOUR,
        "expire_at": now + 24 * HOUR,
    },
    "lease as text": lambda now: {"status": "in_progress", "lease_seconds": "60"},
    "lease negative": lambda now: {"status": "in_progress", "lease_seconds": -1},
    "lease beyond reason": lambda now: {"status": "in_progress", "lease_seconds": 1e300},
    "lease's end as a number": lambda now: {"status": "in_progress", "lease_expires": 5},
    "lease's end as no time": lambda now: {"status": "in_progress", "lease_expires": "soon"},
    "attempt a number": lambda now: {
        "status": "in_progress",
        "attempt_id": 7,
        "lease_seconds": 60,
    },
}
DEAD: dict[str, Planted] = {
    "sample's shape, lease over": lambda now: {
        "status": "in_progress",
        "attempt_id": "one",
        "lease_expires": now - HOUR,
        "expire_at": now + 23 * HOUR,
    },
    "lease's end as text": lambda now: {
        "status": "in_progress",
        "lease_expires": (now - HOUR).isoformat(),
    },
    "lease odd, end over": lambda now: {
        "status": "in_progress",
        "lease_seconds": "x",
        "lease_expires": now - HOUR,
    },
    "lease of nothing": lambda now: {"status": "in_progress", "lease_seconds": 0},
    "no attempt": lambda now: {"status": "in_progress", "lease_seconds": 0, "attempt_id": None},
}
FINAL: dict[str, Planted] = {
    "status only": lambda now: {"status": "completed"},
    "sample's shape": lambda now: {
        "status": "completed",
        "attempt_id": "one",
        "lease_expires": now - HOUR,
        "expire_at": now + HOUR,
    },
    "result no JSON": lambda now: {"status": "completed", "result": "{"},
    "result a list": lambda now: {"status": "completed", "result": "[1]"},
    "result a number": lambda now: {"status": "completed", "result": 3},
    "result with what JSON has not": lambda now: {"status": "completed", "result": '{"a": NaN}'},
    "result beyond all numbers": lambda now: {"status": "completed", "result": '{"a": 1e999}'},
    "result too large": lambda now: {"status": "completed", "result": f'{{"a": "{"x" * 5000}"}}'},
    "times odd": lambda now: {"status": "completed", "expire_at": "x", "finished_at": 1.5},
    "forced odd": lambda now: {"status": "completed", "forced": "yes", "job_name": 3},
}


def cases(planted: dict[str, Planted]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("planted", planted.values(), ids=planted.keys())


@cases(UNREADABLE)
def test_unknown_status_fails_closed(
    harness: Harness, store: Store, run: Run, terms: Terms, planted: Planted
) -> None:
    """R17."""
    harness.plant(run.run_id, planted(harness.now()))
    before = harness.raw(run.run_id)
    assert isinstance(store.claim(run, "two", terms, timeout=T), Unreadable)
    assert harness.raw(run.run_id) == before


@cases(ALIVE)
def test_record_without_a_usable_lease_counts_as_alive(
    harness: Harness, store: Store, run: Run, terms: Terms, planted: Planted
) -> None:
    """R17; bug row 9: an orphan is not run a second time beside its holder."""
    harness.plant(run.run_id, planted(harness.now()))
    before = harness.raw(run.run_id)
    assert isinstance(store.claim(run, "two", terms, timeout=T), Held)
    assert harness.raw(run.run_id) == before


@movable
def test_record_without_a_usable_lease_is_taken_over_after_an_hour(
    harness: Harness, store: Store, run: Run, terms: Terms
) -> None:
    """R17, by the store's time of the last write."""
    harness.plant(run.run_id, {"status": "in_progress"})
    harness.pass_time(3599)
    assert isinstance(store.claim(run, "two", terms, timeout=T), Held)
    harness.pass_time(2)
    assert claimed(store, run, "two", terms).claim.recovered


@cases(DEAD)
def test_dead_record_of_any_shape_is_taken_over(
    harness: Harness, store: Store, run: Run, terms: Terms, planted: Planted
) -> None:
    """R13, R17: and can be renewed, finished and read like any other."""
    harness.plant(run.run_id, planted(harness.now()))
    answer = store.claim(run, "two", terms, timeout=T)
    assert isinstance(answer, Claimed)
    assert answer.claim.recovered
    assert store.finish(answer.claim, Status.COMPLETED, None, timeout=T) is None
    record = store.get(run.run_id, timeout=T)
    assert record is not None
    assert record.job_name == run.job_name


@cases(FINAL)
def test_completed_record_of_any_shape_is_never_run_again(
    harness: Harness, store: Store, run: Run, terms: Terms, planted: Planted
) -> None:
    """R11, R17."""
    harness.plant(run.run_id, planted(harness.now()))
    before = harness.raw(run.run_id)
    answer = store.claim(run, "two", terms, timeout=T)
    assert isinstance(answer, Closed)
    assert answer.record.result is None
    assert harness.raw(run.run_id) == before
