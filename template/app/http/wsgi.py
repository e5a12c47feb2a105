"""A request of Flask as the service's, and the answer back."""

import time

import flask
from gunicorn.http.errors import ParseException

from app.service import BODY_LIMIT, Request, Service


def handle(service: Service) -> flask.Response:
    """Answer Flask's current request."""
    received = time.monotonic()
    incoming = flask.request
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in incoming.headers:
        headers[name.lower()] = (*headers.get(name.lower(), ()), value)
    body = _body(incoming)
    answer = service.handle(
        Request(
            method=incoming.method,
            path=_path(incoming),
            query={name: tuple(values) for name, values in incoming.args.lists()},
            headers=headers,
            body=body,
            received=received,
        )
    )
    if body is not None and len(body) <= BODY_LIMIT:
        return flask.Response(answer.body, answer.status, dict(answer.headers))
    # Whoever calls this may read what is left of a body, however long, before he passes on any
    # answer but a stream.
    headers_of_stream = {**answer.headers, "Content-Length": str(len(answer.body))}
    return flask.Response(iter([answer.body]), answer.status, headers_of_stream)


def _path(incoming: flask.Request) -> str:
    """Return the path as it was sent; `incoming.path` makes one leading slash of several."""
    path: str = incoming.environ["PATH_INFO"]
    return path.encode("latin-1").decode(errors="replace")


def _body(incoming: flask.Request) -> bytes | None:
    try:
        body = incoming.stream.read(BODY_LIMIT + 1)
    except (OSError, ParseException):
        return None
    # The server hands out what it got when the client has gone.
    expected = min(incoming.content_length or 0, BODY_LIMIT + 1)
    return body if len(body) >= expected else None
