"""Counting calls over the wire: by an interceptor for gRPC, by MONITOR for Redis."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import grpc
from redis import Redis

Counting = Callable[[], AbstractContextManager[Counter[str]]]
"""Counts the calls that are made while the context lasts, by name."""

_BEGIN: Final = "the beginning of what is counted"
_END: Final = "the end of what is counted"


class Interceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Counts the calls of a channel, by method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = Counter[str]()

    @contextmanager
    def counting(self) -> Iterator[Counter[str]]:
        """Count while the context lasts."""
        with self._lock:
            self._calls = Counter()
        yield self._calls

    def intercept_unary_unary(self, proceed: Any, details: Any, request: Any) -> Any:
        """Count a call with one answer."""
        self._count(details)
        return proceed(details, request)

    def intercept_unary_stream(self, proceed: Any, details: Any, request: Any) -> Any:
        """Count a call with many answers."""
        self._count(details)
        return proceed(details, request)

    def _count(self, details: Any) -> None:
        with self._lock:
            self._calls[details.method.rsplit("/", 1)[-1]] += 1


def redis_counting(port: int) -> Counting:
    """Return what counts the commands that clients send to a Redis server."""

    @contextmanager
    def counting() -> Iterator[Counter[str]]:
        calls = Counter[str]()
        with Redis(port=port) as client, client.monitor() as monitor:
            lines = monitor.listen()
            client.echo(_BEGIN)
            while _BEGIN not in next(lines)["command"]:
                pass
            yield calls
            client.echo(_END)
            while _END not in (line := next(lines))["command"]:
                # What a script does is no call over the wire.
                if line["client_type"] != "lua":
                    calls[line["command"].split()[0].upper()] += 1

    return counting
