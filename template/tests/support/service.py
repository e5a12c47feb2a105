"""The service as its adapters see it, on a store whose clock the test moves."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.auth import Authenticator, open_authenticator
from app.dedup import Attempt
from app.dedup.delivery import Headers, read_delivery
from app.dedup.runner import Job
from app.dedup.store import Store
from app.kinds import Kind
from app.service import Request, Response, Service
from app.shutdown import Shutdown
from tests.support.settings import settings
from tests.support.stores.sqlite import SqliteHarness

SCHEDULED: Headers = {
    "x-cloudscheduler-jobname": ("nightly",),
    "x-cloudscheduler-scheduletime": ("2026-10-16T05:00:00-07:00",),
}
"""The headers of the delivery of noon's run."""

RUN_ID = "0242aef585dc506b812c56fa9f6fe465715e334501084683e4e3c87c390b5ca9"
"""The key of noon's run of the service `nightly-report` (R08)."""

ANYONE = open_authenticator("off", audience="", service_account="")


class Caller:
    """An authenticator that ends each check in the same way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def authenticate(self, headers: Headers) -> None:
        raise self._error


def kind(run: Job) -> Kind:
    """Return a kind of the tests' own, which runs `run`."""
    return Kind(read_delivery, run)


def idle(attempt: Attempt) -> None:
    """Do nothing, successfully."""


def never(attempt: Attempt) -> None:
    """Fail the test by having been run."""
    raise AssertionError("the job ran")


class Answer:
    """A response, with its body read."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body: dict[str, Any] = json.loads(response.body)

    @property
    def outcome(self) -> tuple[int, object]:
        return self.status, self.body["outcome"]


class LocalService:
    """One instance of the service; `store` replaces the harness's own, `like` its kind."""

    def __init__(
        self,
        harness: SqliteHarness,
        job: Job = idle,
        *,
        caller: Authenticator = ANYONE,
        store: Store | None = None,
        like: Kind | None = None,
        **changes: Any,
    ) -> None:
        self.harness = harness
        self.shutdown = Shutdown()
        self._service = Service(
            settings(**changes),
            store or harness.open(),
            caller,
            replace(like, run=job) if like else kind(job),
            self.shutdown,
            harness.fake.clock,
        )

    def handle(
        self,
        method: str = "POST",
        path: str = "/",
        *,
        headers: Headers = SCHEDULED,
        query: Mapping[str, tuple[str, ...]] | None = None,
        body: bytes = b"",
        waited: float = 0.0,
    ) -> Answer:
        """Answer a request that came `waited` seconds ago; by default, noon's delivery."""
        received = self.harness.fake.ticks - waited
        return Answer(
            self._service.handle(Request(method, path, query or {}, headers, body, received))
        )
