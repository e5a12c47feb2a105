"""A simulated Redis: the real Lua scripts, run by a real Lua, on hashes in memory.

What runs on it is the real `app.dedup.stores.redis`, which asks a client that is simulated.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NoReturn

from app.dedup.clock import Clock
from app.dedup.stores.redis.client import SOCKET_TIMEOUT
from app.dedup.stores.redis.script import Script
from app.dedup.stores.redis.store import RedisStore
from lupa.lua51 import LuaRuntime
from redis import exceptions

from proof.errand import Errand, View
from proof.network import Call, Network, NoAnswer, Refusal
from proof.oracle import Oracle
from proof.world import START, Machine, World, present

_EPOCH_MICROS: Final = int(START.timestamp()) * 1_000_000

Lua = Callable[[Any, Any], Any]
Hash = dict[bytes, bytes]


@dataclass(slots=True)
class Keyspace:
    """The hashes of one server.

    Attributes:
        writes: How many commands have changed any.
        micros: The time of the script at work, in microseconds since 1970.
    """

    world: World
    hashes: dict[bytes, Hash] = field(default_factory=dict)
    writes: int = 0
    micros: int = 0

    def begin(self) -> None:
        """Begin the next script; no two of them have the same microsecond."""
        self.micros = max(self.micros + 1, _EPOCH_MICROS + int(self.world.now * 1e6))


class Interpreter:
    """The Lua that Redis has, and the commands that the scripts call."""

    def __init__(self) -> None:
        self._lua = LuaRuntime(encoding=None, unpack_returned_tuples=False)
        commands = {
            b"TIME": self._time,
            b"HSET": self._hset,
            b"HDEL": self._hdel,
            b"HGETALL": self._hgetall,
            b"DEL": self._del,
            b"PEXPIREAT": self._pexpireat,
        }
        self._lua.globals()[b"commands"] = self._lua.table_from(commands)
        self._lua.execute(b"""
            redis = {call = function(command, ...) return commands[command](...) end}
            redis.pcall = redis.call
        """)
        self._scripts: dict[str, Lua] = {}
        self._keys = Keyspace(World())

    def run(self, script: Script, keys: Keyspace, key: bytes, arguments: list[bytes]) -> object:
        """Run a script; return its reply as a client gets it."""
        self._keys = keys
        loaded = self._scripts.get(script.sha)
        if loaded is None:
            text = f"return function(KEYS, ARGV) {script.text} end"
            loaded = self._scripts[script.sha] = self._lua.execute(text.encode())
        return _reply(loaded(self._lua.table(key), self._lua.table_from(arguments)))

    def _time(self) -> object:
        seconds, micros = divmod(self._keys.micros, 1_000_000)
        return self._lua.table(b"%d" % seconds, b"%d" % micros)

    def _hset(self, key: bytes, *pairs: bytes) -> int:
        keys = self._keys
        there = keys.hashes.setdefault(key, {})
        before = len(there)
        there.update(zip(pairs[::2], pairs[1::2], strict=True))
        keys.writes += 1
        return len(there) - before

    def _hdel(self, key: bytes, name: bytes) -> int:
        there = self._keys.hashes.get(key, {})
        return 0 if there.pop(name, None) is None else 1

    def _hgetall(self, key: bytes) -> object:
        there = self._keys.hashes.get(key, {})
        return self._lua.table_from([text for pair in there.items() for text in pair])

    def _del(self, key: bytes) -> int:
        keys = self._keys
        keys.writes += 1
        return 0 if keys.hashes.pop(key, None) is None else 1

    def _pexpireat(self, key: bytes, millis: bytes) -> int:
        # Records outlive the schedules by far (R29).
        if int(millis) * 1000 < self._keys.micros:
            raise NotImplementedError("the record would expire at once")
        return 1


interpreter = lru_cache(maxsize=1)(Interpreter)
"""The interpreter of this process; it keeps nothing between scripts."""

_SCRIPTS: Final = {
    script.sha: script
    for script in (
        RedisStore.CLAIM,
        RedisStore.RENEW,
        RedisStore.FINISH,
        RedisStore.RELEASE,
        RedisStore.READ,
    )
}


class RedisServer:
    """The store's side: one script at a time."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self._keys = Keyspace(world)
        self._oracle = oracle

    def now(self) -> int:
        """Return the store's time in microseconds."""
        return self._keys.micros - _EPOCH_MICROS

    def evaluate(self, errand: Errand, sha: str, run_id: str, arguments: list[bytes]) -> object:
        """Run a script on a record."""
        keys, key = self._keys, run_id.encode()
        keys.begin()
        writes = keys.writes
        reply = interpreter().run(_SCRIPTS[sha], keys, key, arguments)
        if keys.writes > writes:
            there, now = keys.hashes.get(key), self.now()
            self._oracle.wrote(errand, run_id, _view(there, now) if there else None, now)
        return reply


class RedisClient:
    """As much of redis-py's client as the service needs."""

    def __init__(
        self, machine: Machine, network: Network, server: RedisServer, oracle: Oracle
    ) -> None:
        self._machine = machine
        self._network = network
        self._server = server
        self._oracle = oracle

    def evalsha(self, sha: str, keys: int, key: str, *arguments: str | bytes) -> object:
        """Have a script run by the server."""
        process = present()
        errand = process.errand
        texts = [each.encode() if isinstance(each, str) else each for each in arguments]

        def apply(heard: bool) -> object:
            reply = self._server.evaluate(errand, sha, key, texts)
            if heard and process.name == "request":
                errand.seen[key] = (self._oracle.view(key), self._server.now())
            return reply

        self._oracle.asked(errand, SOCKET_TIMEOUT)
        what = _NAMES[sha]
        try:
            return self._network.carry(
                self._machine, Call(what, what != "read", SOCKET_TIMEOUT, apply)
            )
        except NoAnswer as error:
            raise exceptions.TimeoutError(str(error)) from error
        except Refusal as error:
            raise exceptions.ResponseError(f"OOM {error}") from error

    def eval(self, *arguments: object) -> NoReturn:
        """Do nothing: the server knows all scripts."""
        raise NotImplementedError

    def info(self, section: str) -> dict[str, str]:
        """Tell that nothing is evicted."""
        return {"maxmemory_policy": "noeviction"}

    def close(self) -> None:
        """Do nothing: there is no connection."""


_NAMES: Final = {
    RedisStore.CLAIM.sha: "claim",
    RedisStore.RENEW.sha: "renew",
    RedisStore.FINISH.sha: "finish",
    RedisStore.RELEASE.sha: "release",
    RedisStore.READ.sha: "read",
}


def open_redis(
    clock: Clock, machine: Machine, network: Network, server: RedisServer, oracle: Oracle
) -> RedisStore:
    """Return one instance's side."""
    client: Any = RedisClient(machine, network, server, oracle)
    return RedisStore(lambda: client, "", clock)


def _view(there: Hash, now: int) -> View:
    """Return the record of a hash that was written now."""
    lease = float(there[b"lease_seconds"])
    return View(there[b"status"].decode(), there[b"attempt_id"].decode(), now, lease)


def _reply(value: Any) -> object:
    """Turn what a script returns into what a client gets, as Redis does."""
    if isinstance(value, bytes):
        return value
    if value is None or value is False:
        return None
    if isinstance(value, int | float):
        return int(value)
    return [_reply(each) for each in value.values()]
