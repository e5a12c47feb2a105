"""Keys, and a server of their certificates that answers as told."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.auth import (
    Authenticator,
)
from app.auth.verify import TokenAuthenticator
from tests.auth_verify.tokens import ACCOUNT, AUDIENCE, CertificateServer, Key


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

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 as inherited
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
