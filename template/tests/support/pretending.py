"""Something at a service's address that answers as a test wants it."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from app.dedup.store import Run

Reply = tuple[int, Mapping[str, object]] | None
"""A status and the fields of the JSON, or a connection that is closed without an answer."""


def told(outcome: str, run: Run) -> Reply:
    """Return an answer of the service about a run."""
    return 200, {"outcome": outcome, "run_id": run.run_id}


@contextmanager
def pretending(*replies: Reply | Callable[[], Reply]) -> Iterator[str]:
    """Answer one request after the other with `replies`, and yield the URL.

    A reply can be a function: what happens before it is given. Later requests get no answer.
    """
    coming = iter(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            reply = next(coming, None)
            found = reply() if callable(reply) else reply
            if found is None:
                return
            status, fields = found
            body = json.dumps(fields).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as inherited
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
