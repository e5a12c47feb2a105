"""`AUTH=verify`: Google's certificates are fetched, kept, renewed, and missed with care."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.auth import (
    Authenticator,
    CannotVerify,
    Unauthenticated,
    open_authenticator,
)
from app.auth.verify import TokenAuthenticator
from tests.auth_verify.tokens import ACCOUNT, AUDIENCE, CertificateServer, Key, bearing, token


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
