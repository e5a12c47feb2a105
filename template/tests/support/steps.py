"""Steps that most tests of a store begin with."""

from app.dedup.record import Status
from app.dedup.store import Claimed, Held, Run, Store, Terms

T = 20.0
"""Seconds for one operation."""


def claimed(store: Store, run: Run, attempt_id: str, terms: Terms) -> Claimed:
    """Claim a run that has to be free."""
    answer = store.claim(run, attempt_id, terms, timeout=T)
    assert isinstance(answer, Claimed), answer
    return answer


def held(store: Store, run: Run, attempt_id: str, terms: Terms) -> Held:
    """Claim a run that another attempt has to hold."""
    answer = store.claim(run, attempt_id, terms, timeout=T)
    assert isinstance(answer, Held), answer
    return answer


def finished(store: Store, answer: Claimed, result: str | None = None) -> None:
    """Complete a claimed run."""
    assert store.finish(answer.claim, Status.COMPLETED, result, timeout=T) is None
