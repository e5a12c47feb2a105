"""A command gets what Secret Manager holds for it, and nothing starts without it."""

import base64
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import google.auth
import pytest
from google.auth.credentials import AnonymousCredentials
from google.auth.transport.requests import AuthorizedSession

from app import secrets

HELD = {"projects/p/secrets/url": "rediss://:word@10.0.0.3", "projects/p/secrets/ca": "a\nb\n"}


@pytest.fixture
def api() -> Iterator[str]:
    """A stand-in of Secret Manager, by the address of its API."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/v1/").removesuffix("/versions/latest:access")
            data = base64.b64encode(HELD.get(name, "").encode()).decode()
            self.send_response(200 if name in HELD else 403)
            self.end_headers()
            self.wfile.write(json.dumps({"payload": {"data": data}}).encode())

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 as inherited
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_variables_and_files_get_the_newest_versions(api: str, tmp_path: Path) -> None:
    read = secrets.secret_manager(AuthorizedSession(AnonymousCredentials()), api)  # type: ignore[no-untyped-call]
    file = tmp_path / "ca.pem"
    listed = f"RUN_STORE_URL=projects/p/secrets/url,{file}=projects/p/secrets/ca"
    assert secrets.fetch(listed, read) == {"RUN_STORE_URL": HELD["projects/p/secrets/url"]}
    assert file.read_text() == HELD["projects/p/secrets/ca"]


def test_without_secrets_nothing_is_read() -> None:
    assert secrets.fetch("", HELD.__getitem__) == {}


@pytest.mark.parametrize(
    "listed", ["RUN_STORE_URL", "RUN_STORE_URL=url", "=projects/p/secrets/url"]
)
def test_a_list_that_is_none_is_refused(listed: str) -> None:
    with pytest.raises(ValueError, match="write TARGET=projects/PROJECT/secrets/NAME"):
        secrets.fetch(listed, HELD.__getitem__)


def test_what_cannot_be_read_stops_the_start(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google.auth, "default", lambda scopes: (AnonymousCredentials(), "p"))  # type: ignore[no-untyped-call]
    monkeypatch.setattr(secrets, "API", api)
    monkeypatch.setenv("SECRETS", "RUN_STORE_URL=projects/p/secrets/other")
    with pytest.raises(SystemExit, match=r"^The secrets cannot be read.*403"):
        secrets.main(["false"])
