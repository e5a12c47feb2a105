"""The stores of a generated project."""

import secrets
import time
from typing import Final

from app.dedup.delivery import Delivery, Instant, Run
from app.dedup.record import Status
from app.dedup.store import Claim, Claimed, Lost, Store, Terms

from benchmarks.sides import LEASE, RETENTION, SCHEDULE_TIME

TERMS: Final = Terms(lease=LEASE, retention=RETENTION)
_SHORT: Final = Terms(lease=0.05, retention=RETENTION)
_TIMEOUT: Final = 60.0
_INSTANT: Final = Instant.of(SCHEDULE_TIME)


class Ours:
    """Claims and finishes as the service does around the work of a job."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def claim(self, name: str) -> Claim | None:
        """Claim a run; the run's key is made here too."""
        answer = self.store.claim(_run(name), secrets.token_hex(16), TERMS, timeout=_TIMEOUT)
        return answer.claim if isinstance(answer, Claimed) else None

    def finish(self, claim: Claim) -> None:
        """Record that the run is done, if the claim still stands."""
        _check(self.store.finish(claim, Status.COMPLETED, None, timeout=_TIMEOUT))

    def release(self, claim: Claim) -> None:
        """Delete the record, if the claim still stands."""
        _check(self.store.release(claim, settle=None, timeout=_TIMEOUT))

    def renew(self, claim: Claim) -> Claim:
        """Start the claim's lease anew."""
        answer = self.store.renew(claim, timeout=_TIMEOUT)
        if isinstance(answer, Lost):
            raise RuntimeError(f"the claim was lost: {answer}")
        return answer

    def die(self, name: str) -> None:
        """Claim a run as an attempt that ends then, and return when its lease is over."""
        self.store.claim(_run(name), secrets.token_hex(16), _SHORT, timeout=_TIMEOUT)
        time.sleep(2 * _SHORT.lease)

    def close(self) -> None:
        """Let go of connections."""
        self.store.close()


def _check(answer: object) -> None:
    if isinstance(answer, Lost):
        raise RuntimeError(f"the claim was lost: {answer}")


def _run(name: str) -> Run:
    delivery = Delivery(name, _INSTANT, "", "")
    return delivery.run("benchmark", SCHEDULE_TIME, separate_forced_runs=True)
