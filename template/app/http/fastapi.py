"""FastAPI, served by uvicorn. The protocol is synchronous and runs in the thread pool."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from anyio import to_thread
from fastapi import FastAPI
from starlette import requests, responses
from starlette.types import Receive, Scope, Send

from app.service import BODY_LIMIT, Request, Service, create_service
from app.shutdown import SHUTDOWN

CONCURRENCY: Final = 80
"""Requests that are handled at once: as many as the platform sends to one instance."""


def create_app(service: Service | None = None) -> FastAPI:
    """Return the ASGI application. Its service comes from the environment by default."""
    chosen = service or create_service()
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=_lifespan)

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await nowhere(scope, receive, send)
            return
        received = time.monotonic()
        try:
            request = await _request(requests.Request(scope, receive), received)
        except requests.ClientDisconnect:
            return
        answer = await to_thread.run_sync(chosen.handle, request)
        headers = {**answer.headers, **({"Connection": "close"} if request.body is None else {})}
        response = responses.Response(answer.body, answer.status, headers)
        await response(scope, receive, send)

    # What no route takes, whatever its path and method: the service names the right ones.
    nowhere, app.router.default = app.router.default, run
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    # By now uvicorn has installed the handler that is to be called after ours.
    SHUTDOWN.watch()
    to_thread.current_default_thread_limiter().total_tokens = CONCURRENCY
    yield


async def _request(incoming: requests.Request, received: float) -> Request:
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in incoming.headers.items():
        headers[name] = (*headers.get(name, ()), value)
    query: dict[str, tuple[str, ...]] = {}
    for name, value in incoming.query_params.multi_items():
        query[name] = (*query.get(name, ()), value)
    return Request(
        method=incoming.method,
        path=incoming.scope["path"],
        query=query,
        headers=headers,
        body=await _body(incoming),
        received=received,
    )


async def _body(incoming: requests.Request) -> bytes | None:
    # uvicorn reads the chunks, and what follows them as the next request. Whoever has passed this
    # on may have read as many bytes as the length says (RFC 9112, section 6.1).
    if {"content-length", "transfer-encoding"} <= set(incoming.headers):
        return None
    body = bytearray()
    async for chunk in incoming.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            break
    return bytes(body[: BODY_LIMIT + 1])
