"""The service that the tests' servers offer: a test's job, a store with gates, many settings."""

import builtins
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from app.auth import Authenticator, CannotVerify, Forbidden, Unauthenticated, open_authenticator
from app.dedup.delivery import Headers, JobScope
from app.dedup.record import Record, Status
from app.dedup.store import Claim, ClaimAnswer, Claimed, Lost, Query, Run, Store, Terms
from app.dedup.stores import open_store
from app.environment import Reader
from app.kinds import open_kind
from app.service import Request, Response, Service, create_service
from app.settings import Settings
from app.shutdown import SHUTDOWN
from tests.support.jobs import Effects, job
from tests.support.servers.gates import Gates
from tests.support.service import kind

FOLDER: Final = "TEST_FOLDER"
"""Environment variable: where the effects and the gates are."""

SETTINGS: Final = "x-test-settings"
"""Header: a JSON object of settings that this request's service has instead of its own."""

TOKENS: Final = "tokens"
"""An `auth` of the tests' own, see `Tokens`."""


class GatedStore:
    """A store with gates before and behind each claim, and one before each finish."""

    def __init__(self, inner: Store, gates: Gates) -> None:
        self._inner = inner
        self._gates = gates

    def claim(self, run: Run, attempt_id: str, terms: Terms, *, timeout: float) -> ClaimAnswer:
        self._gates.go_through(f"claim-{run.job_name}")
        answer = self._inner.claim(run, attempt_id, terms, timeout=timeout)
        if isinstance(answer, Claimed):
            self._gates.go_through(f"claimed-{run.job_name}")
        return answer

    def renew(self, claim: Claim, *, timeout: float) -> Claim | Lost:
        return self._inner.renew(claim, timeout=timeout)

    def finish(
        self, claim: Claim, status: Status, result: str | None, *, timeout: float
    ) -> Lost | None:
        self._gates.go_through(f"finish-{claim.run.job_name}")
        return self._inner.finish(claim, status, result, timeout=timeout)

    def release(self, claim: Claim, *, settle: float | None, timeout: float) -> Lost | None:
        return self._inner.release(claim, settle=settle, timeout=timeout)

    def get(self, run_id: str, *, timeout: float) -> Record | None:
        return self._inner.get(run_id, timeout=timeout)

    def get_many(self, run_ids: Iterable[str], *, timeout: float) -> Iterator[Record]:
        return self._inner.get_many(run_ids, timeout=timeout)

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        return self._inner.list(query, timeout=timeout)

    def delete(self, record: Record, *, timeout: float) -> bool:
        return self._inner.delete(record, timeout=timeout)

    def init(self, *, timeout: float) -> builtins.list[str]:
        return self._inner.init(timeout=timeout)

    def check(self, *, timeout: float) -> None:
        self._inner.check(timeout=timeout)

    def close(self) -> None:
        self._inner.close()


class Tokens:
    """Accepts the token `good`; `other` is somebody else's, and `unclear` cannot be verified."""

    def authenticate(self, headers: Headers) -> None:
        match headers.get("authorization", ()):
            case ("Bearer good",):
                return
            case ("Bearer other",):
                raise Forbidden("the token belongs to somebody else")
            case ("Bearer unclear",):
                raise CannotVerify("the certificates could not be fetched")
            case _:
                raise Unauthenticated("there is no good token")


class Variants(Service):
    """Answers each request as the service with the wanted settings would.

    So one process serves the tests of all settings. A request without wishes gets what
    `create_service` makes.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        folder = Path(environ[FOLDER])
        self._gates = Gates(folder / "gates")
        self._tested = kind(job(Effects(folder / "effects"), self._gates))
        self._lock = threading.Lock()
        self._services = {"{}": create_service(self._tested, self._connect)}
        self._base = Settings.from_environ(environ)

    def handle(self, request: Request) -> Response:
        """Answer by the service that the request's header asks for."""
        wanted = request.headers.get(SETTINGS, ("{}",))[0]
        with self._lock:
            if wanted not in self._services:
                self._services[wanted] = self._create(json.loads(wanted))
            service = self._services[wanted]
        return service.handle(request)

    def _create(self, changes: dict[str, object]) -> Service:
        # A kind is the project's own, but for what it does.
        asked = open_kind(str(changes.pop("kind")), Reader({})) if "kind" in changes else None
        tested = replace(asked, run=self._tested.run) if asked else self._tested
        if "job_scope" in changes:
            changes["job_scope"] = JobScope(str(changes["job_scope"]))
        settings = replace(self._base, **changes)  # type: ignore[arg-type]
        store = self._connect(settings.run_store_url)
        return Service(settings, store, _authenticator(settings), tested, SHUTDOWN)

    def _connect(self, url: str) -> Store:
        return GatedStore(open_store(url), self._gates)


def create_variants() -> Variants:
    """Return the service of a test server, from the environment."""
    return Variants(os.environ)


def _authenticator(settings: Settings) -> Authenticator:
    if settings.auth == TOKENS:
        return Tokens()
    return open_authenticator(settings.auth, audience="", service_account="")
