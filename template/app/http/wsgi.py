"""A request of Flask as the service's, and the answer back."""

import flask

from app.service import BODY_LIMIT, Request, Service


def handle(service: Service) -> flask.Response:
    """Answer Flask's current request."""
    incoming = flask.request
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in incoming.headers:
        headers[name.lower()] = (*headers.get(name.lower(), ()), value)
    answer = service.handle(
        Request(
            method=incoming.method,
            path=incoming.path,
            query={name: tuple(values) for name, values in incoming.args.lists()},
            headers=headers,
            body=incoming.stream.read(BODY_LIMIT + 1),
        )
    )
    return flask.Response(answer.body, answer.status, dict(answer.headers))
