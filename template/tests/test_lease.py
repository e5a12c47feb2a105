"""When a lease is renewed, and when an attempt is told that it is over (R18, R19)."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.dedup.clock import SYSTEM_CLOCK
from app.dedup.lease import Renewal
from app.dedup.record import Stamp
from app.dedup.store import Claim, Lost, Run, Store, StoreError, Terms
from app.dedup.stores import open_store
from tests.support.clock import NOON, FakeClock
from tests.support.steps import T, claimed, held

LEASE = 60.0
TERMS = Terms(LEASE, 60.0)


class ScriptedStore:
    """Answers renewals as told, and notes when they were sent and with which time limit."""

    def __init__(self, fake: FakeClock) -> None:
        self.fake = fake
        self.answers: list[str] = []
        self.takes = 0.0
        self.sent: list[float] = []
        self.timeouts: list[float] = []

    def renew(self, claim: Claim, *, timeout: float) -> Claim | Lost:
        self.sent.append(self.fake.ticks - 1000)
        self.timeouts.append(timeout)
        self.fake.advance(min(self.takes, timeout))
        match self.answers.pop(0) if self.answers else "ok":
            case "ok":
                version = len(self.sent)
                return replace(claim, stamp=Stamp(version, NOON, version))
            case "lost":
                return Lost(None)
            case "crash":
                raise TypeError("a fault of the store's own")
            case _:
                raise StoreError("no answer")


class Watched:
    """A renewal whose clock the test moves and whose beats it makes."""

    def __init__(self, deadline: float = 1_000_000.0, terms: Terms = TERMS) -> None:
        self.fake = FakeClock()
        self.store = ScriptedStore(self.fake)
        self.lost = threading.Event()
        self.stopping = threading.Event()
        run = Run("r", "nightly", NOON, "", "", forced=False)
        claim = Claim(run, "one", terms, False, 1, Stamp(0, NOON, 1))
        self.renewal = Renewal(
            self.store,  # type: ignore[arg-type]
            claim,
            sent=self.fake.ticks,
            deadline=self.fake.ticks + deadline,
            lost=self.lost,
            stopping=self.stopping,
            clock=self.fake.clock,
        )

    def beat_for(self, seconds: float) -> float | None:
        """Make the beats of the next `seconds`, each when the one before asked for it."""
        end = self.fake.ticks + seconds
        wait = self.renewal.beat()
        while wait is not None and self.fake.ticks + wait <= end:
            self.fake.advance(wait)
            wait = self.renewal.beat()
        if wait is not None:
            self.fake.advance(max(0.0, end - self.fake.ticks))
        return wait


@pytest.fixture
def watched() -> Watched:
    return Watched()


class TestRenewal:
    def test_happens_every_third_of_the_lease(self, watched: Watched) -> None:
        """R18; bug row 24."""
        watched.beat_for(100)
        assert watched.store.sent == [20, 40, 60, 80, 100]
        assert not watched.lost.is_set()

    def test_can_be_due_more_often(self) -> None:
        """R22: so that a dead attempt's lease is left for longer."""
        watched = Watched(terms=Terms(LEASE, 60.0, settle=LEASE - 15.0))
        watched.beat_for(16)
        assert watched.store.sent == [5, 10, 15]

    def test_hands_on_the_last_confirmed_claim(self, watched: Watched) -> None:
        """R20: finishing takes one call then."""
        watched.beat_for(50)
        assert watched.renewal.claim.stamp.version == 2

    def test_that_fails_is_tried_again_soon(self, watched: Watched) -> None:
        """R18."""
        watched.store.answers = ["error", "error", "ok"]
        watched.beat_for(35)
        assert watched.store.sent == [20, 26, 32]
        assert not watched.lost.is_set()

    def test_ends_at_the_requests_time_limit_and_says_so(self) -> None:
        """R18: `stopping`, not `lost`; the claim goes on to the end of its lease."""
        watched = Watched(deadline=45)
        watched.beat_for(40 + LEASE - 1)
        assert watched.store.sent == [20, 40]
        assert watched.stopping.is_set()
        assert not watched.lost.is_set()

    def test_that_has_ended_still_tells_when_the_lease_is_over(self) -> None:
        """R19: work that goes on after its time limit is told that it is on its own."""
        watched = Watched(deadline=45)
        assert watched.beat_for(40 + LEASE + 1) is None
        assert watched.lost.is_set()

    def test_that_breaks_is_tried_again_like_one_that_fails(self, watched: Watched) -> None:
        """R18: no fault of a store ends the thread in silence."""
        watched.store.answers = ["crash", "ok"]
        watched.beat_for(30)
        assert watched.store.sent == [20, 26]


class TestLoss:
    def test_is_told_at_once_when_another_attempt_has_the_claim(self, watched: Watched) -> None:
        """R19."""
        watched.store.answers = ["ok", "lost"]
        assert watched.beat_for(200) is None
        assert watched.store.sent == [20, 40]
        assert watched.lost.is_set()
        assert not watched.stopping.is_set()

    def test_is_told_when_a_lease_has_passed_since_the_last_confirmed_sending(
        self, watched: Watched
    ) -> None:
        """R19; bug row 29: counted from when the renewal was sent, not from its answer."""
        watched.store.takes = 2.0
        watched.store.answers = ["ok"] + ["error"] * 100
        watched.beat_for(20 + LEASE - 0.5)
        assert not watched.lost.is_set()
        watched.beat_for(1.0)
        assert watched.lost.is_set()

    def test_by_silence_is_advice_and_renewal_goes_on(self, watched: Watched) -> None:
        """R19: the store decides; it may still be our claim."""
        watched.store.answers = ["error"] * 12
        watched.beat_for(100)
        assert watched.lost.is_set()
        assert watched.renewal.claim.stamp.version == len(watched.store.sent)

    def test_is_told_after_the_process_was_stopped_past_its_lease(self, watched: Watched) -> None:
        """R19: SIGSTOP and SIGCONT; the first beat sees it, before any renewal."""
        watched.beat_for(5)
        watched.fake.advance(LEASE)
        watched.store.answers = ["error"]
        watched.renewal.beat()
        assert watched.lost.is_set()

    def test_is_not_hidden_by_a_renewal_that_hangs(self, watched: Watched) -> None:
        """R19, R26: no call is given more time than the lease has left."""
        watched.store.takes = 1000.0
        watched.store.answers = ["error"] * 100
        watched.beat_for(LEASE + 1)
        assert watched.lost.is_set()
        assert max(watched.store.timeouts) <= 3.0


class TestThread:
    """A real thread on real time, with a store whose clock is the machine's."""

    @pytest.fixture
    def real(self, tmp_path: Path) -> Store:
        return open_store(f"sqlite:///{tmp_path}/runs.db")

    @pytest.fixture
    def renewal(self, real: Store, run: Run) -> Iterator[Renewal]:
        """The renewal of a short lease, at work."""
        sent = time.monotonic()
        claim = claimed(real, run, "one", Terms(lease=1.5, retention=60.0)).claim
        with Renewal(
            real,
            claim,
            sent=sent,
            deadline=sent + 60,
            lost=threading.Event(),
            stopping=threading.Event(),
            clock=SYSTEM_CLOCK,
        ) as renewal:
            yield renewal

    def test_keeps_the_claim_for_three_leases_of_work(
        self, real: Store, renewal: Renewal, run: Run, terms: Terms
    ) -> None:
        """R18; bug row 20."""
        seen: set[object] = set()
        while len(seen) < 10:
            seen.add(renewal.claim.stamp.version)
            assert held(real, run, "two", terms).lease_left > 0

    def test_ends_with_the_work(self, real: Store, renewal: Renewal, run: Run) -> None:
        """R27; bug row 49: no renewal after the release."""
        renewal.__exit__(None, None, None)
        assert real.release(renewal.claim, settle=None, timeout=T) is None
        assert "lease" not in {thread.name for thread in threading.enumerate()}
        assert real.get(run.run_id, timeout=T) is None
