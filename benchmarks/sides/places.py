"""Who competes on each store, ready to be timed and counted."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final

import grpc
from app.dedup.clock import SYSTEM_CLOCK
from app.dedup.stores import open_store
from app.dedup.stores.firestore import FirestoreStore
from app.dedup.stores.spanner import SpannerStore
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore_v1.client import Client
from google.cloud.spanner_v1 import Client as SpannerDatabases
from google.cloud.spanner_v1 import SpannerClient
from google.cloud.spanner_v1.services.spanner.transports.grpc import SpannerGrpcTransport

from benchmarks.calls import Interceptor, redis_counting
from benchmarks.parts import Parts, optional
from benchmarks.sides import Pair
from benchmarks.sides.documented import Documented
from benchmarks.sides.naive import Naive
from benchmarks.sides.ours import Ours
from benchmarks.sides.powertools import Powertools

OURS: Final = "scheduler-once"
DOCUMENTED: Final = "documented pattern"
NAIVE: Final = "two transactions"
POWERTOOLS: Final = "Powertools"

_PROJECT: Final = "benchmark"
_DATABASE: Final = "projects/benchmark/instances/benchmark/databases/benchmark"


class _FirestoreClient(Client):
    """A client of the emulator, whose calls an interceptor sees."""

    def __init__(self, interceptor: Interceptor | None) -> None:
        credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
        super().__init__(project=_PROJECT, credentials=credentials)
        self._interceptor = interceptor

    def _emulator_channel(self, transport: Any) -> grpc.Channel:
        channel: grpc.Channel = super()._emulator_channel(transport)  # type: ignore[no-untyped-call]
        return grpc.intercept_channel(channel, self._interceptor) if self._interceptor else channel


def firestore(parts: Parts) -> list[Pair]:
    """Our store, and the documented pattern."""
    _ = parts.firestore

    def ours(collection: str, interceptor: Interceptor | None) -> Ours:
        connect = partial(_FirestoreClient, interceptor)
        return Ours(FirestoreStore(connect, collection, SYSTEM_CLOCK))

    def documented(collection: str, interceptor: Interceptor | None) -> Documented:
        return Documented(_FirestoreClient(interceptor), collection)

    seen, seen_too = Interceptor(), Interceptor()
    return [
        Pair(OURS, ours("ours", None), ours("ours-counted", seen), seen.counting),
        Pair(
            DOCUMENTED,
            documented("documented", None),
            documented("documented-counted", seen_too),
            seen_too.counting,
        ),
    ]


def spanner(parts: Parts) -> list[Pair]:
    """Our store, and a transaction each to claim and to finish."""
    host = parts.spanner

    def api(interceptor: Interceptor | None) -> SpannerClient:
        channel = grpc.insecure_channel(host)
        if interceptor:
            channel = grpc.intercept_channel(channel, interceptor)
        return SpannerClient(transport=SpannerGrpcTransport(channel=channel))

    def ours(table: str, interceptor: Interceptor | None) -> Ours:
        store = SpannerStore(partial(api, interceptor), _DATABASE, table, SYSTEM_CLOCK)
        store.init(timeout=60.0)
        return Ours(store)

    def naive(table: str, interceptor: Interceptor | None) -> Naive:
        # The same table, but for the versions, which this side does not need.
        SpannerStore(api_alone, _DATABASE, table, SYSTEM_CLOCK).init(timeout=60.0)
        client = SpannerDatabases(project=_PROJECT)
        instance = client.instance("benchmark")  # type: ignore[no-untyped-call]
        return Naive(instance.database("benchmark"), table, api(interceptor))

    api_alone = partial(api, None)
    seen, seen_too = Interceptor(), Interceptor()
    return [
        Pair(OURS, ours("ours", None), ours("ours_counted", seen), seen.counting),
        Pair(NAIVE, naive("naive", None), naive("naive_counted", seen_too), seen_too.counting),
    ]


def redis(parts: Parts) -> list[Pair]:
    """Our store, and Powertools."""
    port = parts.redis
    counting = redis_counting(port)

    def ours(prefix: str) -> Ours:
        return Ours(open_store(f"redis://127.0.0.1:{port}?prefix={prefix}:"))

    return [
        Pair(OURS, ours("ours"), ours("ours-counted"), counting),
        Pair(
            POWERTOOLS,
            Powertools(port, "timed"),
            Powertools(port, "counted"),
            counting,
        ),
    ]


def sqlite(parts: Parts) -> list[Pair]:
    """Our store alone: nothing goes over a wire."""

    @contextmanager
    def counting() -> Iterator[Counter[str]]:
        yield Counter()

    def ours(name: str) -> Ours:
        return Ours(open_store(f"sqlite://{os.sep}{parts.folder / name}"))

    return [Pair(OURS, ours("ours.db"), ours("ours-counted.db"), counting)]


STORES: Final[dict[str, Callable[[Parts], list[Pair]]]] = {
    "Firestore": firestore,
    "Spanner": spanner,
    "Redis": redis,
    "SQLite": sqlite,
}
"""The stores, by their names, and who competes there."""


@contextmanager
def opened(parts: Parts, store: str, omitted: list[str]) -> Iterator[list[Pair]]:
    """Give the pairs of a store, none where it is missing, and close them."""
    with ExitStack() as stack:
        pairs: list[Pair] = []
        with optional(omitted):
            pairs = STORES[store](parts)
        for pair in pairs:
            stack.callback(pair.close)
        yield pairs
