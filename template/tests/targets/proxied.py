"""A proxy on a store whose calls can get lost, and on a stand-in whose calls can as well."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, timedelta
from typing import Any

from app.dedup import Attempt, JobResult
from app.dedup.delivery import Headers, read_delivery
from app.dedup.runner import Job
from app.kinds import Kind
from app.kinds.proxy import SETTLE_TIME, Proxy
from app.targets import Searchable, open_target
from dev.standin import StandIn
from dev.targets import SearchedApi
from tests.support.clock import NOON
from tests.support.faults import Kind as Loss
from tests.support.service import Answer, LocalService
from tests.support.stores.sqlite import LossyHarness


class Killed(BaseException):
    """The process ends, and nothing that it would do afterwards happens."""


class Proxied:
    """One proxy. Times pass only when the test says so."""

    def __init__(self, harness: LossyHarness, stand_in: StandIn) -> None:
        self.harness = harness
        self.stand_in = stand_in
        self.target = open_target(stand_in.api.target, stand_in.url, harness.fake.clock)
        self.proxy = Proxy(self.target, separate_forced_runs=True)
        self.name = type(self.target).__module__.rpartition(".")[2]

    @property
    def searches(self) -> bool:
        """Whether what was started is searched, because the API knows no request id."""
        return isinstance(self.target, Searchable)

    def blind(self, *, value: bool) -> None:
        """Make the API's list lag behind, or catch up."""
        assert isinstance(self.stand_in.api, SearchedApi)
        self.stand_in.api.blind = value

    def starts(self, answer: Answer) -> int:
        """How often the run of an answer was started."""
        return self.stand_in.api.starts[answer.body["run_id"]]

    def deliver(
        self,
        minutes: int = 0,
        *,
        body: Mapping[str, object] | bytes | None = None,
        dies: str = "",
        **changes: Any,
    ) -> Answer:
        """Deliver the run so many minutes ago; the proxy `dies` `before` or `after` its call."""
        like = Kind(read_delivery, self.proxy.run, settle=SETTLE_TIME)
        service = LocalService(self.harness, self._mortal(dies), like=like, **changes)
        content = (
            body
            if isinstance(body, bytes)
            else json.dumps(self.stand_in.api.body if body is None else body).encode()
        )
        answer = service.handle(headers=headers_of(minutes), body=content)
        self.harness.faults.plan.clear()
        return answer

    def deliver_at_once(self, minutes: int, copies: int) -> list[Answer]:
        """Deliver a run several times at once."""
        with ThreadPoolExecutor(copies) as pool:
            return list(pool.map(self.deliver, [minutes] * copies))

    def pass_time(self, seconds: float = 91.0) -> None:
        """Let settle time and lease go by, and late calls take effect within them."""
        self.harness.fake.advance(seconds / 2)
        self.stand_in.settle()
        self.harness.fake.advance(seconds / 2)

    def deliver_until_done(self, minutes: int = 0) -> Answer:
        """Deliver a run as Cloud Scheduler retries it; return the last answer."""
        for _ in range(6):
            self.pass_time()
            answer = self.deliver(minutes)
            if answer.status == 200:
                return answer
        return answer

    def _mortal(self, dies: str) -> Job:
        def run(attempt: Attempt) -> JobResult:
            if dies == "before":
                self._die()
            try:
                return self.proxy.run(attempt)
            finally:
                if dies == "after":
                    self._die()

        return run

    def _die(self) -> None:
        # The dead release nothing.
        self.harness.faults.plan[:] = [Loss.LOST_REQUEST] * 100
        raise Killed


def headers_of(minutes: int) -> Headers:
    """Return the headers of the run so many minutes before noon; a negative one is ahead."""
    time = (NOON - timedelta(minutes=minutes)).astimezone(UTC)
    return {
        "x-cloudscheduler-jobname": ("nightly",),
        "x-cloudscheduler-scheduletime": (f"{time:%Y-%m-%dT%H:%M:%SZ}",),
        "content-type": ("application/json",),
    }
