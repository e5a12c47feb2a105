"""Redis under test: a real server, and a connection that counts scripts and loses them."""

import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis, exceptions
from redis.connection import Connection

from app.dedup.store import Store
from app.dedup.stores import open_store
from app.dedup.stores.redis.address import Address
from app.dedup.stores.redis.client import connect
from app.dedup.stores.redis.script import micros
from app.dedup.stores.redis.store import RedisStore
from tests.support.faults import Faults, Kind
from tests.support.redis_server import Server
from tests.support.stores import Hanging, RawFields, RealTimeHarness

PLACE = ("redis://{host}?prefix={name}:", "")
"""URL of a set of records on what `redis_emulator` yields; no variable names that."""


class LossyConnection(Connection):
    """Applies the planned fault to each command of an operation; all else passes."""

    def __init__(self, faults: Faults, **settings: Any) -> None:
        super().__init__(**settings)  # type: ignore[no-untyped-call]
        self._faults = faults
        self._lost = False

    def send_command(self, *args: Any, **options: Any) -> None:
        if args[0] in ("EVAL", "EVALSHA", "SCAN"):
            reads = args[0] == "SCAN" or args[1] in (RedisStore.READ.sha, RedisStore.READ.text)
            self._meet("read" if reads else "write")
        super().send_command(*args, **options)  # type: ignore[no-untyped-call]

    def pack_commands(self, commands: Any) -> Any:
        # Only pipelines come this way, and each is one call.
        self._meet("read")
        return super().pack_commands(commands)  # type: ignore[no-untyped-call]

    def _meet(self, call: str) -> None:
        fault = self._faults.next(call)
        if fault is Kind.LOST_REQUEST:
            raise self._injected("the request was lost")
        if fault is Kind.REFUSED:
            raise exceptions.NoPermissionError("injected: it was refused")
        self._lost = fault is Kind.LOST_ANSWER

    def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return super().read_response(*args, **options)
        finally:
            if self._lost:
                self._lost = False
                raise self._injected("the answer was lost")

    def _injected(self, what: str) -> Exception:
        self.disconnect()  # type: ignore[no-untyped-call]
        kind: type[Exception] = getattr(exceptions, self._faults.code, exceptions.ConnectionError)
        return kind(f"injected: {what}")


class RedisHarness(RealTimeHarness):
    """A prefix of its own on the server, whose clock nobody moves."""

    name = "redis"
    codes = ("ConnectionError", "TimeoutError")
    takeover_calls = 1

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server
        self.prefix = f"runs-{uuid.uuid4().hex}:"
        self.client = server.client()

    def open(self, skew: timedelta = timedelta()) -> Store:
        return RedisStore(self._connect, self.prefix, self.clock(skew))

    def plant(self, run_id: str, fields: RawFields) -> None:
        # Another version writes the time; a person's record without it is a test of its own.
        self.edit(run_id, {"written_at": micros(self.now()), **fields})

    def edit(self, run_id: str, fields: RawFields) -> None:
        for name, value in fields.items():
            if value is not None:
                self.client.hset(self.prefix + run_id, name, _text(value))

    def erase(self, run_id: str) -> None:
        self.client.delete(self.prefix + run_id)

    def raw(self, run_id: str) -> RawFields | None:
        fields = self.client.hgetall(self.prefix + run_id)
        texts = {str(name): _number(str(value)) for name, value in fields.items()}
        return {**texts, "expires": self.expires(run_id)} if texts else None

    def expires(self, run_id: str) -> int:
        """Return when the server deletes the record, in milliseconds; -1 is never."""
        return int(self.client.pexpiretime(self.prefix + run_id))

    def _connect(self) -> Redis:
        client = connect(Address.parse(self.server.url))
        assert isinstance(client, Redis)
        client.connection_pool.connection_class = partial(LossyConnection, self.faults)
        return client


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("redis"))
    with server.client() as client:
        # A server that has just started costs each script a call more: a test of its own.
        for script in vars(RedisStore).values():
            if hasattr(script, "sha"):
                client.script_load(script.text)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis_emulator(redis_server: Server) -> str:
    """The server's address, host:port."""
    return redis_server.url.removeprefix("redis://")


@pytest.fixture(scope="session")
def redis_hanging(redis_server: Server) -> Hanging:
    """Keeps the server from answering."""
    return redis_server.hanging


@pytest.fixture
def redis_harness(redis_server: Server) -> Iterator[RedisHarness]:
    harness = RedisHarness(redis_server)
    yield harness
    harness.client.close()


@pytest.fixture
def start_redis(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers that the test may hurt, with command-line options of its own."""
    started: list[Server] = []

    def start(*options: str) -> Server:
        started.append(Server(tmp_path / str(len(started)), *options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def opened() -> Iterator[Callable[[str], Store]]:
    """Open stores by their URL, as the service does."""
    stores: list[Store] = []

    def open_url(url: str) -> Store:
        stores.append(open_store(url))
        return stores[-1]

    yield open_url
    for store in stores:
        store.close()
