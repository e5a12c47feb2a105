"""The client of one API, with the service's own credentials and within an attempt's time."""

import ipaddress
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import Final
from urllib.parse import urlencode, urlsplit

import requests
from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request

from app.calls.body import dumped
from app.calls.sending import Answer, send
from app.dedup import Attempt, Stopping
from app.dedup.clock import Clock

CALL_TIMEOUT: Final = 20.0
"""Seconds for a call at the most: less than the 30 s of R22."""

_TOKEN_TIMEOUT: Final = 10.0
_SHORTEST: Final = 0.1


class NoCredentials(Exception):
    """There is no token to call with, so nothing was sent. `str()` says why."""


class Client:
    """Calls one API. One instance serves all threads; every call has a connection of its own."""

    def __init__(self, base: str, credentials: Callable[[], Credentials], clock: Clock) -> None:
        """Take where the API is, without connecting to it yet.

        Args:
            base: scheme and host, with no slash at the end; a loopback one is called without
                credentials.
            credentials: makes the credentials when they are first needed.
            clock: tells how much of an attempt's time is left.
        """
        self._base = base
        self._local = is_loopback(base)
        self._make = credentials
        self._made: Credentials | None = None
        self._lock = Lock()
        self._clock = clock

    def call(
        self,
        method: str,
        path: str,
        attempt: Attempt,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request within the attempt's time and return the answer, whatever it says.

        Raises:
            NoCredentials: nothing was sent.
            Stopping: nothing was sent, because no time was left.
            GiveUp: nothing was sent, because it cannot be.
            OutcomeUnknown: no answer came, so it may have taken effect or not.
        """
        url = f"{self._base}{path}{f'?{urlencode(query)}' if query else ''}"
        sent = dict(headers or {})
        if not self._local:
            self._authorize(method, url, sent)
        attempt.check()
        left = (attempt.deadline - self._clock.now()).total_seconds()
        if left < _SHORTEST:
            raise Stopping("no time was left for the call")
        # On this machine no proxy lies in between.
        return send(
            requests.Request(method, url, headers=sent, data=body),
            within=min(CALL_TIMEOUT, left),
            through_proxies=not self._local,
        )

    def post(self, path: str, attempt: Attempt, body: Mapping[str, object]) -> Answer:
        """Send `body` as JSON; raises as `call` does, and `GiveUp` where it is no Unicode."""
        headers = {"Content-Type": "application/json"}
        return self.call("POST", path, attempt, body=dumped(body), headers=headers)

    def _authorize(self, method: str, url: str, headers: dict[str, str]) -> None:
        request = partial(Request(), timeout=_TOKEN_TIMEOUT)
        try:
            with self._lock:
                self._made = self._made or self._make()
                self._made.before_request(request, method, url, headers)  # type: ignore[no-untyped-call]
        except GoogleAuthError as error:
            raise NoCredentials(f"there is no token to call with: {error}") from error


def is_loopback(url: str) -> bool:
    """Tell whether a URL is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def google_credentials() -> Credentials:
    """Return the service's own credentials, for Google's APIs."""
    import google.auth

    credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    made: Credentials = credentials
    return made
