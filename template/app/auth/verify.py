"""`AUTH=verify`: no platform checks the token, so everything about it is verified here (R33).

Signature, lifetime, issuer, audience, account, against Google's public certificates. These are kept
for as long as Google allows (some hours) and fetched sooner when a token names a key that is not
among them: Google has changed its keys, or somebody made one up.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Final

import requests
from cachecontrol import CacheControl
from cachecontrol.cache import DictCache
from cachecontrol.controller import CacheController
from google.auth import crypt, exceptions, jwt

from app.auth import Authenticator, CannotVerify, Unauthenticated
from app.auth.token import REMOVED_SIGNATURE, BearerToken, check_claims, read_token
from app.dedup.delivery import Headers

GOOGLE_CERTS_URL: Final = "https://www.googleapis.com/oauth2/v1/certs"
"""A JSON object: for each key id, an X.509 certificate in PEM."""

CLOCK_SKEW_SECONDS: Final = 10
"""How far this instance's clock and Google's may be apart."""

FETCH_TIMEOUT_SECONDS: Final = 4.0
"""For the connection to the certificates' server, and for each wait for its bytes."""

RENEWAL_INTERVAL_SECONDS: Final = 10.0
"""Tokens with unknown keys cause at most one fetch in this time, however many come."""

Clock = Callable[[], float]
"""Monotonic seconds."""

_Certificates = dict[str, str]


class TokenAuthenticator:
    """Accepts tokens that Google has signed for this audience and the job's service account."""

    def __init__(
        self,
        *,
        audience: str,
        service_account: str,
        certs_url: str = GOOGLE_CERTS_URL,
        fetch_timeout: float = FETCH_TIMEOUT_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        """Take what to expect; nothing is fetched before the first token.

        Args:
            audience: the token's `aud`, exactly.
            service_account: the token's `email`.
            certs_url: where the certificates are, as at `GOOGLE_CERTS_URL`.
            fetch_timeout: seconds, as `FETCH_TIMEOUT_SECONDS`.
            clock: spaces the fetches; tokens are judged by the system's clock.

        Raises:
            ValueError: the audience or the service account is empty.
        """
        if not audience or not service_account:
            # Without either, any Google account's token for any service would be good enough.
            raise ValueError(
                "AUTH=verify needs AUTH_AUDIENCE, the service's root URL, and "
                "AUTH_SERVICE_ACCOUNT, the email of the job's service account"
            )
        self._audience = audience
        self._service_account = service_account
        self._keys = _GoogleKeys(certs_url, timeout=fetch_timeout, clock=clock)

    def authenticate(self, headers: Headers) -> None:
        """Verify the token in `Authorization`; errors as `Authenticator` says."""
        token = read_token(headers)
        key_id = _key_id(token)
        certificate = self._keys.certificate(key_id)
        if certificate is None:
            raise Unauthenticated("the token is signed with a key that is none of Google's")
        _verify(token, key_id, certificate)
        check_claims(token.claims, audience=self._audience, service_account=self._service_account)


def create(*, audience: str, service_account: str) -> Authenticator:
    """Return the authenticator of this mode."""
    return TokenAuthenticator(audience=audience, service_account=service_account)


def problems(environ: Mapping[str, str]) -> list[str]:
    """Return what this mode misses in the environment."""
    meanings = {
        "AUTH_SERVICE_ACCOUNT": "the e-mail address of the service account whose token the Cloud"
        " Scheduler job sends",
        "AUTH_AUDIENCE": "the audience of the job's token, the root URL of this service",
    }
    return [
        f"{name} is not set; with AUTH=verify it is {meaning}"
        for name, meaning in meanings.items()
        if not environ.get(name)
    ]


def _key_id(token: BearerToken) -> str:
    """Return the id of the signing key; refuse what needs no certificate to be refused."""
    if token.signature == REMOVED_SIGNATURE:
        raise Unauthenticated(
            "Cloud Run has verified the token and removed its signature: "
            "turn the platform's check off, or let it check alone (`copier update -d auth=iam`)"
        )
    if token.header.get("alg") != "RS256":
        raise Unauthenticated("the token is not signed with RS256")
    key_id = token.header.get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise Unauthenticated("the token does not say which key signed it (no `kid`)")
    if type(token.claims.get("iat")) is not int or type(token.claims.get("exp")) is not int:
        raise Unauthenticated("the token has no lifetime (`iat` and `exp` in seconds)")
    return key_id


def _verify(token: BearerToken, key_id: str, certificate: str) -> None:
    """Check signature and lifetime. The audience is left to `check_claims`, which names both."""
    # First by itself: a certificate that cannot be read is no fault of the token.
    try:
        crypt.RSAVerifier.from_string(certificate)  # type: ignore[no-untyped-call]
    except ValueError as error:
        raise CannotVerify("the certificate of the token's key cannot be read") from error
    # google-auth's messages may quote the token, so none of them becomes a cause.
    try:
        jwt.decode(  # type: ignore[no-untyped-call]
            token.text, {key_id: certificate}, clock_skew_in_seconds=CLOCK_SKEW_SECONDS
        )
    except exceptions.InvalidValue:
        raise Unauthenticated(
            "the token has expired or is not valid yet by this instance's clock "
            f"(iat {token.claims['iat']}, exp {token.claims['exp']})"
        ) from None
    except (exceptions.GoogleAuthError, ValueError, RecursionError):
        raise Unauthenticated("the token's signature does not match") from None


class _GoogleKeys:
    """The certificates at one address, kept as its `Cache-Control` says."""

    def __init__(self, url: str, *, timeout: float, clock: Clock) -> None:
        self._url = url
        self._timeout = timeout
        self._cache = DictCache()
        self._session = CacheControl(requests.Session(), cache=self._cache)
        # The next fetch is hours away. By then a kept connection is dead, and using it an error.
        self._session.headers["Connection"] = "close"
        self._current = _SharedFetch(self._fetch, keep=0.0, clock=clock)
        self._renewed = _SharedFetch(
            lambda: self._fetch({"Cache-Control": "no-cache"}),
            keep=RENEWAL_INTERVAL_SECONDS,
            clock=clock,
        )

    def certificate(self, key_id: str) -> str | None:
        certificates = self._current()
        if key_id not in certificates:
            certificates = self._renewed()
        return certificates.get(key_id)

    def _fetch(self, headers: dict[str, str] | None = None) -> _Certificates:
        try:
            response = self._session.get(self._url, headers=headers, timeout=self._timeout)
            response.raise_for_status()
        except requests.RequestException as error:
            raise CannotVerify(f"the certificates at {self._url} cannot be fetched") from error
        try:
            return _parsed(response.content)
        except ValueError as error:
            # Kept as its headers ask, an error page would stand in for the certificates for hours.
            self._cache.delete(CacheController.cache_url(response.url))
            raise CannotVerify(f"{self._url} gave something else than certificates") from error


class _SharedFetch:
    """One fetch for all threads that ask meanwhile; its outcome holds for `keep` seconds."""

    def __init__(self, fetch: Callable[[], _Certificates], *, keep: float, clock: Clock) -> None:
        self._fetch = fetch
        self._keep = keep
        self._clock = clock
        self._lock = threading.Lock()
        self._started = 0.0
        self._outcome: Future[_Certificates | CannotVerify] | None = None

    def __call__(self) -> _Certificates:
        with self._lock:
            now = self._clock()
            shared = self._outcome
            mine = shared is None or (shared.done() and now - self._started >= self._keep)
            if shared is None or mine:
                shared = self._outcome = Future()
                self._started = now
        if mine:
            try:
                shared.set_result(self._fetch())
            except CannotVerify as error:
                shared.set_result(error)
            except BaseException as error:
                shared.set_exception(error)
        outcome = shared.result()
        if isinstance(outcome, CannotVerify):
            # A new one for each thread: a raised exception collects the traces of all of them.
            raise CannotVerify(outcome.reason) from outcome.__cause__
        return outcome


def _parsed(body: bytes) -> _Certificates:
    value = json.loads(body)
    if not isinstance(value, dict) or not value:
        raise ValueError("expected a JSON object with certificates")
    if not all(isinstance(certificate, str) for certificate in value.values()):
        raise ValueError("expected a certificate in PEM for each key id")
    return value
