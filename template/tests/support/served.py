"""The service on a store under test, over real HTTP and without a framework."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from app.dedup.runner import Job
from app.service import Request, Service
from app.shutdown import Shutdown
from tests.support.service import ANYONE, kind
from tests.support.settings import settings
from tests.support.stores import Harness


class Served:
    """A running service. `requests` are those that it has got."""

    def __init__(self, url: str, requests: list[Request]) -> None:
        self.url = url
        self.requests = requests


@contextmanager
def served(harness: Harness, job: Job, **changes: Any) -> Iterator[Served]:
    """Serve `job` on the store of `harness` at a port of its own."""
    service = Service(
        settings(**changes), harness.open(), ANYONE, kind(job), Shutdown(), harness.clock()
    )
    requests: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            names = {name.lower() for name in self.headers}
            request = Request(
                "POST",
                parts.path,
                {name: tuple(values) for name, values in parse_qs(parts.query).items()},
                {name: tuple(self.headers.get_all(name, [])) for name in names},
                self.rfile.read(int(self.headers["Content-Length"])),
                received=harness.clock().monotonic(),
            )
            requests.append(request)
            response = service.handle(request)
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as inherited
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_port}", requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
