"""The whole protocol on a store under test, without a server."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NoReturn

from app.dedup.attempt import Attempt
from app.dedup.clock import Clock
from app.dedup.delivery import Delivery, Instant, Trigger
from app.dedup.outcome import Outcome
from app.dedup.runner import Job, Payload, Runner
from app.dedup.store import Store, Terms
from app.shutdown import Shutdown
from tests.support.stores import Harness

SERVICE = "nightly-report"


def delivery_at(moment: datetime) -> Delivery:
    """Return the delivery of the run that is scheduled for `moment`."""
    return Delivery("nightly", Instant.of(moment), "", "")


def run_id_at(moment: datetime, trigger: Trigger = Trigger.SCHEDULED) -> str:
    """Return the key of the run that is scheduled for `moment`."""
    return delivery_at(moment).run_id(SERVICE, trigger)


class Instance:
    """One instance of the service. `attempts` are those that its jobs have seen."""

    def __init__(
        self,
        harness: Harness,
        *,
        skew: timedelta = timedelta(),
        separate: bool = True,
        request_timeout: float = 60.0,
        lease: float = 60.0,
    ) -> None:
        self.clock: Clock = harness.clock(skew)
        self.shutdown = Shutdown()
        self.attempts: list[Attempt] = []
        self.runner = Runner(
            store=harness.open(skew),
            terms=Terms(lease=lease, retention=172_800.0),
            service=SERVICE,
            separate_forced_runs=separate,
            request_timeout=request_timeout,
            shutdown=self.shutdown,
            clock=self.clock,
        )

    def freeze(
        self, wrap: Callable[[Store, Callable[[], object]], object], meanwhile: Callable[[], object]
    ) -> None:
        """Let `meanwhile` happen while this instance stands still, as `wrap` says where."""
        store: Any = wrap(self.runner.store, meanwhile)
        self.runner = replace(self.runner, store=store)

    def deliver(
        self,
        moment: datetime,
        job: Callable[[Attempt], object] = lambda attempt: None,
        *,
        age: float = 0.0,
    ) -> Outcome:
        """Deliver the run of `moment`, `age` seconds after the request came in."""

        def watched(attempt: Attempt) -> object:
            self.attempts.append(attempt)
            return job(attempt)

        payload = Payload(b"", {}, self.clock.monotonic() - age)
        return self.runner.run(delivery_at(moment), payload, _job(watched))


def _job(function: Callable[[Attempt], object]) -> Job:
    """Let tests give jobs that return what no job should."""
    job: Job = function  # type: ignore[assignment]
    return job


@dataclass
class Never:
    """A job that must not run."""

    ran: bool = field(default=False)

    def __call__(self, attempt: Attempt) -> None:
        self.ran = True


def raising(error: BaseException) -> Callable[[Attempt], NoReturn]:
    """Return a job that raises `error`."""

    def job(attempt: Attempt) -> NoReturn:
        raise error

    return job


def let_it_die(harness: Harness, moment: datetime) -> None:
    """Make the live claim of a run look dead, as after a crash and a lease."""
    harness.edit(run_id_at(moment), {"lease_seconds": 0})
