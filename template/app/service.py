"""One request: authenticate, identify, claim, run, finish, answer.

The frameworks' adapters turn their requests into a `Request` and a `Response` back; everything
that a caller can notice is decided here, so that it is the same in each of them.
"""

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, assert_never

from app import defaults, logs
from app.auth import (
    CREDENTIALS,
    Authenticator,
    CannotVerify,
    Forbidden,
    Unauthenticated,
    open_authenticator,
)
from app.dedup import outcome
from app.dedup.clock import SYSTEM_CLOCK, Clock
from app.dedup.delivery import BadDelivery, Headers, Query, is_run_path, shown
from app.dedup.outcome import Outcome, Rejected
from app.dedup.runner import Payload, Runner, random_id
from app.dedup.store import Store, StoreError, Terms, UnsafeStore
from app.dedup.stores import open_store
from app.dedup.threads import SYSTEM_THREADS, Threads
from app.environment import BadEnvironment, Reader
from app.kinds import Kind, open_kind
from app.settings import Settings
from app.shutdown import SHUTDOWN, Shutdown

BODY_LIMIT: Final = 1024 * 1024
"""Largest body in bytes: Cloud Scheduler's own limit for a job. Adapters read one byte more."""

WORKER_BOOT_ERROR: Final = 3
"""Exit status of a process that cannot start: a server does not start such a worker again."""

_CHECK_TIMEOUT: Final = 1.0
_LONGEST_RETRY_AFTER: Final = 3600.0

_log = logs.Log(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request.

    `body` has at most `BODY_LIMIT` + 1 bytes, and is None where it broke off. `received` is
    monotonic.
    """

    method: str
    path: str
    query: Query
    headers: Headers
    body: bytes | None
    received: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response with a JSON body."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Service:
    """Answers requests. One instance serves all threads of a process."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        authenticator: Authenticator,
        kind: Kind,
        shutdown: Shutdown,
        clock: Clock = SYSTEM_CLOCK,
        threads: Threads = SYSTEM_THREADS,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self._settings = settings
        self._authenticator = authenticator
        self._kind = kind
        self._runner = Runner(
            store=store,
            # What a dead attempt has called may take that long to take effect.
            terms=Terms(
                lease=settings.lease + kind.settle,
                retention=settings.retention,
                settle=kind.settle,
            ),
            service=settings.service,
            separate_forced_runs=settings.separate_forced_runs,
            request_timeout=settings.request_timeout,
            shutdown=shutdown,
            clock=clock,
            compares_payload=kind.compares_payload,
            threads=threads,
            new_id=new_id,
        )

    def handle(self, request: Request) -> Response:
        """Answer `request`. Never raises, whatever is in it."""
        with logs.fields(**logs.trace_of(request.headers, self._settings.gcp_project)):
            if request.path == "/health":
                return _health(request.method)
            try:
                return _answer(self._run(request))
            except Exception as error:
                _log.error("The request could not be handled.", error=error)
                return _answer(outcome.Unavailable("an error in the service; see its log"))

    def _run(self, request: Request) -> Outcome:
        """Refuse in the fixed order (path, method, size, caller, identity), or run."""
        if not is_run_path(request.path, self._settings.job_scope):
            return _rejected(404, "There is nothing at this path; runs are delivered to /.")
        if request.method != "POST":
            return _rejected(
                405, f"The method is {shown(request.method)}; runs are delivered by POST."
            )
        if request.body is None:
            return _rejected(400, "The body broke off, or is not as its headers say.")
        if len(request.body) > BODY_LIMIT:
            return _rejected(413, f"The body has more than {BODY_LIMIT} bytes.")
        try:
            self._authenticator.authenticate(request.headers)
        except Unauthenticated as error:
            return _rejected(401, error.reason)
        except Forbidden as error:
            return _rejected(403, error.reason)
        except CannotVerify as error:
            _log.error("The caller could not be verified.", error=error)
            return outcome.Unavailable(error.reason)
        try:
            delivery = self._kind.read(
                request.headers, request.path, request.query, self._settings.job_scope
            )
        except BadDelivery as error:
            return _rejected(400, str(error))
        logs.bind(**delivery.fields())
        _log.info("A delivery was received.", event="received")
        headers = {
            name: ", ".join(values)
            for name, values in request.headers.items()
            if name not in CREDENTIALS
        }
        return self._runner.run(
            delivery, Payload(request.body, headers, request.received), self._kind.run
        )


def create_service(
    kind: Kind | None = None, connect: Callable[[str], Store] = open_store
) -> Service:
    """Build the service from the environment, of the project's kind and on its store by default.

    Exits with one message that lists every error if the environment makes no sense, and with one
    if the store is set up to forget records.
    """
    try:
        read = Reader(os.environ)
        settings = Settings.of(read)
        chosen = kind or open_kind(defaults.KIND, read)
        read.close()
    except BadEnvironment as error:
        _exit(str(error))
    logs.configure(settings.log_level)
    authenticator = open_authenticator(
        settings.auth,
        audience=settings.auth_audience,
        service_account=settings.auth_service_account,
    )
    store = connect(settings.run_store_url)
    _check(store)
    return Service(settings, store, authenticator, chosen, SHUTDOWN)


def _check(store: Store) -> None:
    """Refuse to start on a store that forgets; one that does not answer may do so later (R25)."""
    try:
        store.check(timeout=_CHECK_TIMEOUT)
    except UnsafeStore as error:
        _exit(f"The store is not safe: {error}.")
    except StoreError as error:
        _log.warning("The store does not answer at the start.", error=error)


def _exit(message: str) -> NoReturn:
    logs.configure("INFO")
    _log.critical(message)
    raise SystemExit(WORKER_BOOT_ERROR)


def _rejected(status: int, reason: str) -> Rejected:
    _log.warning(f"A request was refused: {reason}", event="rejected", status=status)
    return Rejected(status, reason)


def _health(method: str) -> Response:
    if method in ("GET", "HEAD"):
        return _response(200, {"outcome": "healthy"})
    reason = f"The method is {shown(method)}; /health answers GET."
    return _answer(_rejected(405, reason), allow="GET")


def _answer(result: Outcome, allow: str = "POST") -> Response:
    """Turn an outcome into its answer. Never 503: App Engine retries it outside the budget."""
    match result:
        case outcome.Processed(run_id, kept):
            return _response(200, {"outcome": "processed", "run_id": run_id, "result": kept})
        case outcome.Duplicate(run_id, kept):
            return _response(200, {"outcome": "duplicate", "run_id": run_id, "result": kept})
        case outcome.GaveUp(run_id, why):
            return _response(200, {"outcome": "gave_up", "run_id": run_id, "reason": why})
        case outcome.InProgress(run_id, lease_left):
            body = {"outcome": "in_progress", "run_id": run_id}
            return _response(409, body, {"Retry-After": _retry_after(lease_left)})
        case outcome.Lost(run_id, lease_left):
            body = {"outcome": "lost", "run_id": run_id}
            if lease_left is None:
                return _response(500, body)
            return _response(409, body, {"Retry-After": _retry_after(lease_left)})
        case outcome.Failed(run_id, reason):
            return _response(500, {"outcome": "failed", "run_id": run_id, "reason": reason})
        case outcome.Unavailable(reason, run_id):
            _log.error(f"Unavailable: {reason}.", event="unavailable")
            return _response(500, {"outcome": "unavailable", "run_id": run_id, "reason": reason})
        case outcome.Rejected(status, reason):
            more = {401: {"WWW-Authenticate": "Bearer"}, 405: {"Allow": allow}}.get(status)
            return _response(status, {"outcome": "rejected", "reason": reason}, more)
        case _:
            assert_never(result)


def _retry_after(lease_left: float) -> str:
    return str(max(1, math.ceil(min(lease_left, _LONGEST_RETRY_AFTER))))


def _response(
    status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> Response:
    text = json.dumps({name: value for name, value in body.items() if value is not None})
    content = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return Response(status, text.encode(), {**content, **(headers or {})})
