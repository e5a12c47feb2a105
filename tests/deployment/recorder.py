"""A stand-in of Google's APIs for the real gcloud: it keeps what is made, and what was asked.

gcloud takes it for a forward proxy, over plain HTTP. So the hosts' real names stay to be seen,
nothing leaves the machine, and a second run meets what the first one made.
"""

import contextlib
import http.server
import json
import re
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.deployment import apis
from tests.deployment.apis import Answer, Request

NAMES: Final = (
    "appengine",
    "artifactregistry",
    "cloudbuild",
    "cloudresourcemanager",
    "cloudscheduler",
    "cloudtasks",
    "firestore",
    "iam",
    "iamcredentials",
    "logging",
    "monitoring",
    "redis",
    "run",
    "secretmanager",
    "serviceusage",
    "spanner",
    "storage",
    "vpcaccess",
    "workflowexecutions",
    "workflows",
)


@dataclass
class Failure:
    """The answer to the next `times` requests whose method and path match."""

    method: str
    path: str
    answer: Answer
    times: int


@dataclass
class Recorder:
    """What was asked so far, and what there is. Shared by the server's threads."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    resources: dict[str, Any] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(
        self, method: str, path: str, code: int, status: str, message: str, times: int = 99
    ) -> None:
        """Answer matching requests with an error; `path` is a pattern."""
        answer = apis.error(code, status, message)
        self.failures.append(Failure(method, path, answer, times))

    def answer(self, request: Request) -> Answer:
        """Answer a request, and note it."""
        with self.lock:
            self.requests.append(request)
            for failure in self.failures:
                if (
                    failure.times
                    and failure.method == request.method
                    and re.search(failure.path, request.path)
                ):
                    failure.times -= 1
                    return failure.answer
            return apis.answer(request, self.resources)

    def sent(self, host: str, method: str, path: str) -> list[Request]:
        """The requests to a host, with a method, whose path matches a pattern as a whole."""
        return [
            request
            for request in self.requests
            if request.host == f"{host}.googleapis.com"
            and request.method == method
            and re.fullmatch(path, request.path)
        ]

    def environment(self) -> dict[str, str]:
        """What gcloud needs in its environment to talk to this recorder alone."""
        nowhere = "http://127.0.0.1:9"
        here = f"http://127.0.0.1:{self.port}"
        settings = {
            "AUTH_DISABLE_CREDENTIALS": "true",
            "CORE_CHECK_GCE_METADATA": "false",
            "CORE_DISABLE_FILE_LOGGING": "1",
            "CORE_DISABLE_USAGE_REPORTING": "true",
            "COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
            "PROXY_TYPE": "http_no_tunnel",
            "PROXY_ADDRESS": "127.0.0.1",
            "PROXY_PORT": str(self.port),
        }
        for name in NAMES:
            suffix = "storage/v1/" if name == "storage" else ""
            settings[f"API_ENDPOINT_OVERRIDES_{name.upper()}"] = (
                f"http://{name}.googleapis.com/{suffix}"
            )
        proxies = {"http_proxy": here, "https_proxy": nowhere, "no_proxy": ""}
        return (
            {f"CLOUDSDK_{name}": value for name, value in settings.items()}
            | proxies
            | {name.upper(): value for name, value in proxies.items()}
        )


@contextlib.contextmanager
def recording(recorder: Recorder | None = None) -> Iterator[Recorder]:
    """Run a recorder on a free port, an own one or a new one."""
    recorder = recorder or Recorder()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            request = _read(self)
            code, body = recorder.answer(request)
            content = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_CONNECT(self) -> None:
            """Be the other end of a tunnel for plain HTTP, which some commands ask for."""
            self.send_response(200 if self.path.endswith(":80") else 501)
            self.end_headers()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - http.server's

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 as inherited
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    recorder.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _read(handler: http.server.BaseHTTPRequestHandler) -> Request:
    raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    if handler.headers.get("Transfer-Encoding", "").lower() == "chunked":
        raw = b"".join(_chunks(handler))
    place = urllib.parse.urlsplit(handler.path)
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        body = {"bytes": raw}
    return Request(
        method=handler.command,
        host=place.hostname or handler.headers["Host"].partition(":")[0],
        path=urllib.parse.unquote(place.path),
        query=dict(urllib.parse.parse_qsl(place.query, keep_blank_values=True)),
        body=body,
    )


def _chunks(handler: http.server.BaseHTTPRequestHandler) -> Iterator[bytes]:
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        yield handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
