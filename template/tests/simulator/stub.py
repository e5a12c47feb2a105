"""A server that answers each delivery as a test says."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

Reply = Callable[["StubHandler"], tuple[int, str]]
"""Status and outcome for a request."""


class StubHandler(BaseHTTPRequestHandler):
    """Answers each POST with what the test's function says."""

    reply: ClassVar[Reply]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status, outcome = type(self).reply(self)
        body = json.dumps({"outcome": outcome}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output quiet."""


class StubServer(ThreadingHTTPServer):
    """Takes connections that break for granted."""

    def handle_error(self, *_: object) -> None:
        """Keep the tests' output quiet."""


@contextmanager
def stub_server(reply: Reply) -> Iterator[str]:
    handler = type("Handler", (StubHandler,), {"reply": staticmethod(reply)})
    server = StubServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
