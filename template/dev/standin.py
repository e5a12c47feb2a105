"""Serves the stand-in of an API on loopback, and makes trouble with the calls that start."""

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from dev.targets import Api, ApiAnswer, ApiRequest, refusal


class Trouble(Enum):
    """What goes wrong with a call."""

    LOST_REQUEST = "lost-request"
    """It never takes effect, and is not answered."""
    LOST_ANSWER = "lost-answer"
    """It takes effect, and is not answered."""
    LATE = "late"
    """It is not answered, and takes effect when `settle` is called."""
    UNAVAILABLE = "503"
    """It does not take effect."""
    UNAVAILABLE_AFTER = "503-after"
    """It takes effect, and is answered as if it had not."""
    TOO_MANY = "429"
    """It does not take effect."""


_REFUSALS = {
    Trouble.UNAVAILABLE: refusal(503, "UNAVAILABLE", "The service is currently unavailable."),
    Trouble.UNAVAILABLE_AFTER: refusal(503, "UNAVAILABLE", "The service is unavailable."),
    Trouble.TOO_MANY: refusal(429, "RESOURCE_EXHAUSTED", "Quota exceeded."),
}
_WITHOUT_EFFECT = (Trouble.LOST_REQUEST, Trouble.LATE, Trouble.UNAVAILABLE, Trouble.TOO_MANY)


class StandIn:
    """An API that is served at `url`, with all requests that it got.

    The next call that starts something suffers the first of `plan`, the one after it the second,
    and so on; `searches` is the same for all other calls.
    """

    def __init__(self, api: Api, url: str) -> None:
        self.api = api
        self.url = url
        self.plan: deque[Trouble] = deque()
        self.searches: deque[Trouble] = deque()
        self.requests: list[ApiRequest] = []
        self._late: list[ApiRequest] = []
        self._lock = threading.Lock()

    @property
    def environ(self) -> dict[str, str]:
        """The settings of a proxy that starts what is here."""
        return {"TARGET": self.api.target, "TARGET_ENDPOINT": self.url}

    def handle(self, request: ApiRequest) -> ApiAnswer | None:
        """Answer a request, None for not at all."""
        with self._lock:
            self.requests.append(request)
            plan = self.plan if request.method == "POST" else self.searches
            trouble = plan.popleft() if plan else None
            if trouble is Trouble.LATE:
                self._late.append(request)
            answer = None if trouble in _WITHOUT_EFFECT else self.api.answer(request)
            return answer if trouble is None else _REFUSALS.get(trouble)

    def settle(self) -> None:
        """Let the late calls take effect."""
        with self._lock:
            for request in self._late:
                self.api.answer(request)
            self._late.clear()


@contextmanager
def standing_in(api: Api) -> Iterator[StandIn]:
    """Serve `api` while the context lasts."""
    server = _Server(("127.0.0.1", 0), _Handler)
    stand_in = StandIn(api, f"http://127.0.0.1:{server.server_port}")
    server.handle_api = stand_in.handle
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    handle_api: Callable[[ApiRequest], ApiAnswer | None]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a caller that was killed breaks its connection."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        """Answer a call."""
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = {}
        with suppress(ValueError):
            body = json.loads(raw)
        request = ApiRequest(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query)),
            {name.lower(): value for name, value in self.headers.items()},
            body if isinstance(body, dict) else {},
        )
        answer = self.server.handle_api(request)
        if answer is None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        content = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST  # noqa: N815 as inherited

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as inherited
        """Print nothing."""
