"""What a network does to the commands of a Redis store, each way (R15, R26)."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from app.dedup.record import Status
from app.dedup.store import Claim, Closed, Held, Lost, Run, Store, Terms
from app.dedup.stores.redis import client
from tests.support.redis_server import Server
from tests.support.steps import T, claimed, held
from tests.support.stores.redis import RedisHarness
from tests.support.tcp_proxy import Proxy, Trouble

Opened = Callable[[str], Store]


@dataclass(frozen=True, slots=True)
class Case:
    """A run behind a network, which attempt `one` may hold; `direct` is another way to it."""

    store: Store
    direct: Store
    run: Run
    terms: Terms

    def held(self) -> Claim:
        return claimed(self.store, self.run, "one", self.terms).claim

    def is_held_by_one(self, *, recovered: bool) -> None:
        claim = claimed(self.store, self.run, "one", self.terms).claim
        assert claim.recovered is recovered
        held(self.direct, self.run, "two", self.terms)


def claim(case: Case) -> Callable[[], None]:
    return lambda: case.is_held_by_one(recovered=False)


def takeover(case: Case) -> Callable[[], None]:
    dead = claimed(case.direct, case.run, "dead", case.terms).claim
    case.direct.release(dead, settle=0.0, timeout=T)
    return lambda: case.is_held_by_one(recovered=True)


def duplicate(case: Case) -> Callable[[], None]:
    claimed(case.direct, case.run, "two", case.terms)

    def act() -> None:
        assert isinstance(case.store.claim(case.run, "one", case.terms, timeout=T), Held)

    return act


def renew(case: Case) -> Callable[[], None]:
    mine = case.held()

    def act() -> None:
        renewed = case.store.renew(mine, timeout=T)
        assert isinstance(renewed, Claim)
        assert renewed.stamp.fence == mine.fence

    return act


def finish(case: Case) -> Callable[[], None]:
    mine = case.held()

    def act() -> None:
        assert case.store.finish(mine, Status.COMPLETED, '{"a":1}', timeout=T) is None
        answer = case.direct.claim(case.run, "two", case.terms, timeout=T)
        assert isinstance(answer, Closed)
        assert answer.record.result == {"a": 1}

    return act


def release(case: Case) -> Callable[[], None]:
    mine = case.held()

    def act() -> None:
        assert case.store.release(mine, settle=None, timeout=T) is None
        assert not claimed(case.direct, case.run, "two", case.terms).claim.recovered

    return act


def settle(case: Case) -> Callable[[], None]:
    mine = case.held()

    def act() -> None:
        assert case.store.release(mine, settle=0.0, timeout=T) is None
        assert claimed(case.direct, case.run, "two", case.terms).claim.recovered

    return act


def get(case: Case) -> Callable[[], None]:
    case.held()

    def act() -> None:
        record = case.store.get(case.run.run_id, timeout=T)
        assert record is not None
        assert record.held_by("one")

    return act


ACTS = (claim, takeover, duplicate, renew, finish, release, settle, get)


@pytest.fixture
def proxy(redis_server: Server) -> Iterator[Proxy]:
    made = Proxy(redis_server.port)
    with made.running():
        yield made


@pytest.fixture
def store(
    proxy: Proxy, redis_harness: RedisHarness, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> Store:
    """A store behind the proxy, which soon stops waiting for an answer."""
    monkeypatch.setattr(client, "SOCKET_TIMEOUT", 0.2)
    behind = opened(f"redis://127.0.0.1:{proxy.port}?prefix={redis_harness.prefix}")
    behind.get("-", timeout=T)  # Connects.
    return behind


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_each_command_that_the_network_hurts_is_made_once_all_the_same(
    proxy: Proxy,
    store: Store,
    redis_harness: RedisHarness,
    run: Run,
    terms: Terms,
    act: Callable[[Case], Callable[[], None]],
    record_property: Callable[[str, object], None],
) -> None:
    """R15, R20, R21, R26: nobody is told something that the record does not say."""
    direct = redis_harness.open()
    record_property("lost acknowledgements of redis, commands x troubles", len(Trouble))
    for number, trouble in enumerate(Trouble):
        case = Case(store, direct, replace(run, run_id=str(number).zfill(64)), terms)
        prepared = act(case)
        proxy.plan = [trouble]
        prepared()
        assert proxy.plan == []
    direct.close()


def test_a_late_finish_takes_nothing_from_the_next_attempt(
    proxy: Proxy, store: Store, redis_harness: RedisHarness, run: Run, terms: Terms
) -> None:
    """R19: it reaches the server when its client has given up, and the run has gone on."""
    mine = claimed(store, run, "one", terms).claim
    redis_harness.edit(run.run_id, {"lease_seconds": 0})
    with closing(redis_harness.open()) as direct:
        second = claimed(direct, run, "two", terms)
        before = redis_harness.raw(run.run_id)
        proxy.plan = [Trouble.LATE_REQUEST]
        assert isinstance(store.finish(mine, Status.COMPLETED, None, timeout=T), Lost)
        proxy.late.set()
        assert proxy.arrived.wait(T)
        assert redis_harness.raw(run.run_id) == before
        assert direct.finish(second.claim, Status.COMPLETED, None, timeout=T) is None
