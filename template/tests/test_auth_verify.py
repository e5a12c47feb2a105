"""`AUTH=verify`: the whole token is verified, with real keys and a real certificates' server."""

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from app.auth import (
    Authenticator,
    CannotVerify,
    Forbidden,
    Unauthenticated,
    open_authenticator,
)
from app.auth.verify import TokenAuthenticator
from app.dedup.delivery import Headers

AUDIENCE = "https://nightly-report.example.com"
ACCOUNT = "nightly-report-job@my-project.iam.gserviceaccount.com"
OTHER = "somebody-else@my-project.iam.gserviceaccount.com"
MISSING = object()


@dataclass(frozen=True)
class Key:
    """A signing key as Google has them: an RSA key with an id and a certificate."""

    id: str
    private: rsa.RSAPrivateKey
    certificate: str

    @classmethod
    def new(cls, key_id: str) -> "Key":
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "federated-signon.example")])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(private.public_key())
            .serial_number(1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=16))
            .sign(private, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM).decode()
        return cls(key_id, private, pem)

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def public_pem(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


@dataclass
class CertificateServer:
    """What the loopback server answers, and how often it was asked."""

    url: str = ""
    body: bytes = b"{}"
    status: int = 200
    content_type: str = "application/json; charset=UTF-8"
    cache_control: str = "public, max-age=20000, must-revalidate, no-transform"
    asked: int = 0
    open: threading.Event = field(default_factory=threading.Event)
    """The server answers once this is set."""
    arrived: threading.Event = field(default_factory=threading.Event)
    """A request has come in."""

    def publish(self, *keys: Key) -> None:
        self.body = json.dumps({key.id: key.certificate for key in keys}).encode()


@pytest.fixture(scope="module")
def google() -> Key:
    """The key that signs Google's tokens."""
    return Key.new("current")


@pytest.fixture(scope="module")
def stranger() -> Key:
    """A key that says to be Google's."""
    return Key.new("current")


@pytest.fixture(scope="module")
def successor() -> Key:
    """The key that follows Google's present one."""
    return Key.new("next")


@pytest.fixture
def server(google: Key, monkeypatch: pytest.MonkeyPatch) -> Iterator[CertificateServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = CertificateServer()
    state.publish(google)
    state.open.set()
    counting = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with counting:
                state.asked += 1
            state.arrived.set()
            state.open.wait(30)
            self.send_response(state.status)
            self.send_header("Content-Type", state.content_type)
            self.send_header("Cache-Control", state.cache_control)
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep the tests' output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}/oauth2/v1/certs"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield state
        state.open.set()
        http.shutdown()
        thread.join()


@pytest.fixture
def verifier(server: CertificateServer) -> Authenticator:
    return TokenAuthenticator(audience=AUDIENCE, service_account=ACCOUNT, certs_url=server.url)


def encoded(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims(**changes: object) -> dict[str, object]:
    """The claims of a token that Scheduler sends, with changes; `MISSING` takes one away."""
    now = int(time.time())
    sent: dict[str, object] = {
        "iss": "https://accounts.google.com",
        "aud": AUDIENCE,
        "azp": "108100000000000000001",
        "sub": "108100000000000000001",
        "email": ACCOUNT,
        "email_verified": True,
        "iat": now,
        "exp": now + 3600,
    }
    return {name: value for name, value in (sent | changes).items() if value is not MISSING}


def token(
    key: Key,
    payload: object = None,
    *,
    header: object = None,
    sign: Callable[[bytes], bytes] | None = None,
) -> str:
    shown = {"alg": "RS256", "kid": key.id, "typ": "JWT"} if header is None else header
    signed = f"{encoded(shown)}.{encoded(claims() if payload is None else payload)}"
    return f"{signed}.{encoded((sign or key.sign)(signed.encode()))}"


def bearing(text: str) -> Headers:
    return {"authorization": (f"Bearer {text}",)}


class TestTheJobsOwnToken:
    @pytest.mark.parametrize("issuer", ["https://accounts.google.com", "accounts.google.com"])
    def test_is_accepted(self, verifier: Authenticator, google: Key, issuer: str) -> None:
        """R33."""
        verifier.authenticate(bearing(token(google, claims(iss=issuer))))

    def test_is_accepted_across_small_differences_of_the_clocks(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: ten seconds either way; the margins here leave room for a slow test."""
        now = int(time.time())
        verifier.authenticate(bearing(token(google, claims(iat=now + 8))))
        verifier.authenticate(bearing(token(google, claims(iat=now - 3600, exp=now - 4))))


class TestATokenThatProvesNothing:
    def test_signed_with_another_key_is_unauthenticated(
        self, verifier: Authenticator, stranger: Key
    ) -> None:
        """R33: a forged token, under the id of Google's key."""
        with pytest.raises(Unauthenticated, match="signature"):
            verifier.authenticate(bearing(token(stranger)))

    def test_changed_after_signing_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33."""
        header, _, signature = token(google, claims(email=OTHER)).split(".")
        with pytest.raises(Unauthenticated, match="signature"):
            verifier.authenticate(bearing(f"{header}.{encoded(claims())}.{signature}"))

    @pytest.mark.parametrize(
        "alg", ["none", "NONE", "HS256", "RS512", "ES256", "", None, ["RS256"]]
    )
    def test_with_another_algorithm_is_unauthenticated(
        self, verifier: Authenticator, google: Key, alg: object
    ) -> None:
        """R33: the token does not choose how it is verified."""
        header = {"alg": alg, "kid": google.id, "typ": "JWT"}
        with pytest.raises(Unauthenticated, match="RS256"):
            verifier.authenticate(bearing(token(google, header=header)))

    def test_with_no_algorithm_and_no_signature_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33."""
        header = {"alg": "none", "kid": google.id}
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(f"{encoded(header)}.{encoded(claims())}."))

    @pytest.mark.parametrize("secret", ["certificate", "public key"])
    def test_signed_with_googles_public_key_as_secret_is_unauthenticated(
        self, verifier: Authenticator, google: Key, secret: str
    ) -> None:
        """R33: HS256 with what everybody knows."""
        known = google.certificate.encode() if secret == "certificate" else google.public_pem()
        forged = token(
            google,
            header={"alg": "HS256", "kid": google.id},
            sign=lambda data: hmac.digest(known, data, hashlib.sha256),
        )
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(forged))

    def test_whose_signature_cloud_run_removed_is_unauthenticated_and_says_why(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: the wrong mode behind the platform's check; `iam` is the right one."""
        header, payload, _ = token(google).split(".")
        with pytest.raises(Unauthenticated, match="auth=iam"):
            verifier.authenticate(bearing(f"{header}.{payload}.SIGNATURE_REMOVED_BY_GOOGLE"))

    @pytest.mark.parametrize("key_id", ["", None, 7, ["current"], {"kid": "current"}])
    def test_that_does_not_name_its_key_is_unauthenticated(
        self, verifier: Authenticator, google: Key, key_id: object
    ) -> None:
        """R33."""
        header = {"alg": "RS256", "kid": key_id}
        with pytest.raises(Unauthenticated, match="kid"):
            verifier.authenticate(bearing(token(google, header=header)))

    def test_in_another_header_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: `Authorization` is where Scheduler puts it."""
        with pytest.raises(Unauthenticated, match="no Authorization header"):
            verifier.authenticate({"x-serverless-authorization": (f"Bearer {token(google)}",)})

    def test_is_unauthenticated_whatever_the_scheduler_headers_say(
        self, verifier: Authenticator
    ) -> None:
        """R07: they prove nothing."""
        with pytest.raises(Unauthenticated):
            verifier.authenticate(
                {
                    "x-cloudscheduler": ("true",),
                    "x-cloudscheduler-jobname": ("nightly-report",),
                    "user-agent": ("Google-Cloud-Scheduler",),
                }
            )


class TestALifetime:
    def test_that_is_over_is_unauthenticated(self, verifier: Authenticator, google: Key) -> None:
        """R33."""
        now = int(time.time())
        with pytest.raises(Unauthenticated, match="expired"):
            verifier.authenticate(bearing(token(google, claims(iat=now - 3700, exp=now - 60))))

    def test_that_has_not_begun_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33."""
        now = int(time.time())
        with pytest.raises(Unauthenticated, match="not valid yet"):
            verifier.authenticate(bearing(token(google, claims(iat=now + 60, exp=now + 3660))))

    @pytest.mark.parametrize("name", ["iat", "exp"])
    @pytest.mark.parametrize("value", [MISSING, None, "soon", True, [], float("nan"), 1e300])
    def test_that_is_no_time_is_unauthenticated(
        self, verifier: Authenticator, google: Key, name: str, value: object
    ) -> None:
        """R33: `NaN` would never be over."""
        with pytest.raises(Unauthenticated, match="lifetime"):
            verifier.authenticate(bearing(token(google, claims(**{name: value}))))


class TestAGenuineTokenOfGoogle:
    """Anybody can have one: it must also be for this service and of this account."""

    @pytest.mark.parametrize(
        "audience", ["https://other.example.com", f"{AUDIENCE}/", "", [AUDIENCE], MISSING]
    )
    def test_for_another_audience_is_unauthenticated(
        self, verifier: Authenticator, google: Key, audience: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="audience") as refused:
            verifier.authenticate(bearing(token(google, claims(aud=audience))))
        assert AUDIENCE in refused.value.reason

    @pytest.mark.parametrize(
        "issuer",
        ["https://securetoken.google.com/my-project", "", ["accounts.google.com"], MISSING],
    )
    def test_of_another_issuer_is_unauthenticated(
        self, verifier: Authenticator, google: Key, issuer: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="issuer"):
            verifier.authenticate(bearing(token(google, claims(iss=issuer))))

    @pytest.mark.parametrize("email", [OTHER, ACCOUNT.upper(), f"{ACCOUNT}.evil.example"])
    def test_of_another_account_is_forbidden_and_both_are_named(
        self, verifier: Authenticator, google: Key, email: str
    ) -> None:
        """R33."""
        with pytest.raises(Forbidden) as refused:
            verifier.authenticate(bearing(token(google, claims(email=email))))
        assert email in refused.value.reason
        assert ACCOUNT in refused.value.reason

    @pytest.mark.parametrize("email", [MISSING, None, 7, [ACCOUNT]])
    def test_without_an_account_is_unauthenticated(
        self, verifier: Authenticator, google: Key, email: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="email"):
            verifier.authenticate(bearing(token(google, claims(email=email))))

    @pytest.mark.parametrize("verified", [False, "true", 1, None, MISSING])
    def test_whose_account_is_not_verified_is_unauthenticated(
        self, verifier: Authenticator, google: Key, verified: object
    ) -> None:
        """R33: nothing but JSON's `true` counts."""
        with pytest.raises(Unauthenticated, match="email_verified"):
            verifier.authenticate(bearing(token(google, claims(email_verified=verified))))

    def test_of_another_account_with_a_forged_signature_learns_no_account(
        self, verifier: Authenticator, stranger: Key
    ) -> None:
        """R33: who the job is, is told only to those whose own account is proved."""
        with pytest.raises(Unauthenticated) as refused:
            verifier.authenticate(bearing(token(stranger, claims(email=OTHER))))
        assert ACCOUNT not in refused.value.reason


class TestAMalformedToken:
    @pytest.mark.parametrize(
        "value",
        [
            "",
            "Bearer",
            "Bearer ",
            "Basic a.b.c",
            "Bearer a",
            "Bearer a.b.c.d",
            "Bearer ..",
            "a.b.c",
        ],
    )
    def test_in_another_scheme_or_shape_is_unauthenticated(
        self, verifier: Authenticator, server: CertificateServer, value: str
    ) -> None:
        """R33: and nothing is fetched for it."""
        with pytest.raises(Unauthenticated):
            verifier.authenticate({"authorization": (value,)})
        assert server.asked == 0

    def test_more_than_one_header_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: some servers join them by commas."""
        value = f"Bearer {token(google)}"
        for values in ((value, value), (f"{value},{value}",)):
            with pytest.raises(Unauthenticated, match="more than one"):
                verifier.authenticate({"authorization": values})

    @pytest.mark.parametrize("payload", [[], [{}], "text", 7, True])
    def test_whose_payload_is_no_object_is_unauthenticated(
        self, verifier: Authenticator, google: Key, payload: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="payload is not a JSON object"):
            verifier.authenticate(bearing(token(google, payload)))

    @pytest.mark.parametrize("odd", ["\0", "\x80", "\xff", "\u6f22", "\udc80", "\n", "+", "/", "="])
    def test_with_odd_characters_is_unauthenticated(
        self, verifier: Authenticator, google: Key, odd: str
    ) -> None:
        """R33."""
        for text in (f"{odd}{token(google)}", f"{token(google)}{odd}"):
            with pytest.raises(Unauthenticated):
                verifier.authenticate(bearing(text))

    @pytest.mark.parametrize("part", ["header", "payload", "signature"])
    def test_with_invalid_base64_is_unauthenticated(
        self, verifier: Authenticator, google: Key, part: str
    ) -> None:
        """R33: five characters encode no number of bytes."""
        parts = dict(zip(("header", "payload", "signature"), token(google).split("."), strict=True))
        parts[part] = "abcde"
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(".".join(parts.values())))

    def test_that_is_huge_is_unauthenticated(self, verifier: Authenticator, google: Key) -> None:
        """R33: Google's tokens have about a thousand characters."""
        with pytest.raises(Unauthenticated, match="longer than"):
            verifier.authenticate(bearing(token(google, claims(padding="x" * 1_000_000))))

    @pytest.mark.parametrize("depth", [*range(850, 1000, 3), 2_000, 5_000])
    def test_that_is_deeply_nested_is_unauthenticated(
        self, verifier: Authenticator, stranger: Key, depth: int
    ) -> None:
        """R33: at whatever depth reading it ends, it does not end the request with a 500."""
        nested = json.dumps(claims()).encode()[:-1] + b',"x":' + b"[" * depth + b"]" * depth + b"}"
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(token(stranger, nested)))

    def test_never_shows_in_the_reason_or_in_the_trace(
        self, verifier: Authenticator, google: Key, stranger: Key
    ) -> None:
        """R39: no token in an answer or a log line."""
        texts = [
            token(stranger),
            token(google, claims(exp=1)),
            token(google, claims(email=OTHER)),
            token(google, b"no JSON"),
            token(google) + "!",
        ]
        for text in texts:
            with pytest.raises((Unauthenticated, Forbidden)) as refused:
                verifier.authenticate(bearing(text))
            shown: BaseException | None = refused.value
            while shown is not None:
                assert not any(part in str(shown) for part in text.split("."))
                shown = shown.__cause__


class TestTheCertificates:
    def test_are_fetched_once_for_many_requests(
        self, verifier: Authenticator, server: CertificateServer, google: Key
    ) -> None:
        """R33."""
        for _ in range(20):
            verifier.authenticate(bearing(token(google)))
        assert server.asked == 1

    def test_are_fetched_once_for_fifty_simultaneous_first_requests(
        self, verifier: Authenticator, server: CertificateServer, google: Key
    ) -> None:
        """R33: a cold instance with Cloud Run's concurrency."""
        text = token(google)
        server.open.clear()
        started = threading.Barrier(51)

        def request() -> None:
            started.wait(30)
            verifier.authenticate(bearing(text))

        with ThreadPoolExecutor(50) as threads:
            requests = [threads.submit(request) for _ in range(50)]
            started.wait(30)
            server.open.set()
            for done in requests:
                done.result(30)
        assert server.asked == 1

    def test_are_fetched_again_when_they_may_no_longer_be_kept(
        self, verifier: Authenticator, server: CertificateServer, google: Key
    ) -> None:
        """R33."""
        server.cache_control = "no-store"
        for _ in range(3):
            verifier.authenticate(bearing(token(google)))
        assert server.asked == 3

    def test_are_not_fetched_before_the_first_token(
        self, verifier: Authenticator, server: CertificateServer
    ) -> None:
        """R33: a cold start does not wait for them."""
        with pytest.raises(Unauthenticated):
            verifier.authenticate({})
        assert server.asked == 0


class TestKeyRotation:
    def test_a_new_key_is_found_while_the_old_certificates_are_still_fresh(
        self, verifier: Authenticator, server: CertificateServer, google: Key, successor: Key
    ) -> None:
        """R33."""
        verifier.authenticate(bearing(token(google)))
        server.publish(google, successor)
        for _ in range(5):
            verifier.authenticate(bearing(token(successor)))
            verifier.authenticate(bearing(token(google)))
        assert server.asked == 2

    def test_a_key_that_google_has_withdrawn_is_unauthenticated_once_that_is_known(
        self, verifier: Authenticator, server: CertificateServer, google: Key, successor: Key
    ) -> None:
        """R33."""
        verifier.authenticate(bearing(token(google)))
        server.publish(successor)
        verifier.authenticate(bearing(token(successor)))
        with pytest.raises(Unauthenticated, match="none of Google's"):
            verifier.authenticate(bearing(token(google)))

    def test_made_up_keys_cause_one_fetch_in_ten_seconds_however_many_come(
        self, server: CertificateServer, google: Key
    ) -> None:
        """R33: nobody can make this service storm Google."""
        now = [1_000.0]
        verifier = TokenAuthenticator(
            audience=AUDIENCE,
            service_account=ACCOUNT,
            certs_url=server.url,
            clock=lambda: now[0],
        )
        verifier.authenticate(bearing(token(google)))
        for elapsed, asked in ((0.0, 2), (9.9, 2), (10.0, 3), (19.9, 3), (20.0, 4)):
            now[0] = 1_000.0 + elapsed
            for number in range(10):
                header = {"alg": "RS256", "kid": f"made-up-{number}"}
                with pytest.raises(Unauthenticated, match="none of Google's"):
                    verifier.authenticate(bearing(token(google, header=header)))
            assert server.asked == asked

    def test_made_up_keys_do_not_disturb_the_job_while_the_server_is_down(
        self, verifier: Authenticator, server: CertificateServer, google: Key
    ) -> None:
        """R33: a made-up key may be a new one, so no 401; known keys go on serving."""
        verifier.authenticate(bearing(token(google)))
        server.status = 503
        for _ in range(5):
            with pytest.raises(CannotVerify):
                verifier.authenticate(
                    bearing(token(google, header={"alg": "RS256", "kid": "made-up"}))
                )
            verifier.authenticate(bearing(token(google)))
        assert server.asked == 2

    def test_a_slow_fetch_for_a_made_up_key_does_not_hold_up_the_job(
        self, verifier: Authenticator, server: CertificateServer, google: Key
    ) -> None:
        """R33."""
        verifier.authenticate(bearing(token(google)))
        server.open.clear()
        server.arrived.clear()
        made_up = bearing(token(google, header={"alg": "RS256", "kid": "made-up"}))
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(verifier.authenticate, made_up)
            assert server.arrived.wait(30)
            verifier.authenticate(bearing(token(google)))
            assert not waiting.done()
            server.open.set()
            with pytest.raises(Unauthenticated):
                waiting.result(30)


class TestCertificatesThatCannotBeHad:
    """A good token must not be called bad: 500, so that Scheduler sends it again."""

    def test_because_the_server_is_down(self, server: CertificateServer, google: Key) -> None:
        """R33."""
        with socket.socket() as nobody_listens:
            nobody_listens.bind(("127.0.0.1", 0))
            down = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/certs"
            verifier = TokenAuthenticator(
                audience=AUDIENCE, service_account=ACCOUNT, certs_url=down
            )
            with pytest.raises(CannotVerify) as failed:
                verifier.authenticate(bearing(token(google)))
        assert down in failed.value.reason
        assert failed.value.__cause__ is not None

    def test_because_the_server_does_not_answer_in_time(
        self, server: CertificateServer, google: Key
    ) -> None:
        """R33."""
        server.open.clear()
        verifier = TokenAuthenticator(
            audience=AUDIENCE, service_account=ACCOUNT, certs_url=server.url, fetch_timeout=0.1
        )
        with pytest.raises(CannotVerify):
            verifier.authenticate(bearing(token(google)))

    @pytest.mark.parametrize("status", [400, 403, 404, 429, 500, 503])
    def test_because_the_server_answers_an_error(
        self, verifier: Authenticator, server: CertificateServer, google: Key, status: int
    ) -> None:
        """R33."""
        server.status = status
        with pytest.raises(CannotVerify):
            verifier.authenticate(bearing(token(google)))

    @pytest.mark.parametrize(
        ("content_type", "body"),
        [
            ("text/html", b"<html>Please sign in to the network</html>"),
            ("application/json", b""),
            ("application/json", b"\xff\xfe"),
            ("application/json", b"{}"),
            ("application/json", b"[]"),
            ("application/json", b"null"),
            ("application/json", b'{"current": null}'),
            ("application/json", b'{"current": {"kty": "RSA"}}'),
            ("application/json", b'{"keys": [{"kid": "current", "kty": "RSA"}]}'),
            ("application/json", b'{"current": "no certificate"}'),
        ],
    )
    def test_because_the_answer_is_something_else(
        self,
        verifier: Authenticator,
        server: CertificateServer,
        google: Key,
        content_type: str,
        body: bytes,
    ) -> None:
        """R33: also with status 200."""
        server.content_type, server.body = content_type, body
        with pytest.raises(CannotVerify):
            verifier.authenticate(bearing(token(google)))

    def test_an_error_page_is_not_kept_in_their_place(
        self, verifier: Authenticator, server: CertificateServer, google: Key
    ) -> None:
        """R33: whatever its `Cache-Control` says."""
        server.body = b"<html>Please sign in to the network</html>"
        with pytest.raises(CannotVerify):
            verifier.authenticate(bearing(token(google)))
        server.publish(google)
        verifier.authenticate(bearing(token(google)))

    def test_all_waiting_requests_are_told_at_once(
        self, server: CertificateServer, google: Key
    ) -> None:
        """R33: fifty in a row would wait for 15 seconds here."""
        text = token(google)
        server.open.clear()
        verifier = TokenAuthenticator(
            audience=AUDIENCE, service_account=ACCOUNT, certs_url=server.url, fetch_timeout=0.3
        )
        started = threading.Barrier(51)

        def request() -> None:
            started.wait(30)
            verifier.authenticate(bearing(text))

        with ThreadPoolExecutor(50) as threads:
            requests = [threads.submit(request) for _ in range(50)]
            started.wait(30)
            began = time.monotonic()
            failures = [done.exception(30) for done in requests]
        assert time.monotonic() - began < 8
        assert all(isinstance(failure, CannotVerify) for failure in failures)


class TestConfiguration:
    @pytest.mark.parametrize(("audience", "account"), [("", ACCOUNT), (AUDIENCE, ""), ("", "")])
    def test_both_audience_and_service_account_are_required(
        self, audience: str, account: str
    ) -> None:
        """R33: without them any Google account's token for any service would do."""
        with pytest.raises(ValueError, match=r"AUTH_AUDIENCE.*AUTH_SERVICE_ACCOUNT"):
            open_authenticator("verify", audience=audience, service_account=account)

    def test_is_opened_with_googles_own_certificates(self) -> None:
        """R33: and without a connection to them."""
        open_authenticator("verify", audience=AUDIENCE, service_account=ACCOUNT)
