"""The simulated Redis answers as Redis does."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from app.dedup.stores.redis.script import Script
from app.dedup.stores.redis.store import RedisStore
from redis import Redis
from redis.exceptions import ConnectionError as NotUpError

from proof.redis_store import Interpreter, Keyspace
from proof.world import World
from tests.ports import free_port

CALL: Final = r"redis\.p?call\('(\w+)'"

COMMANDS: Final = [
    "return #redis.pcall('HGETALL', KEYS[1])",
    "return redis.call('HSET', KEYS[1], 'b', '1', 'a', ARGV[1], 'c', 'x')",
    "return redis.call('HSET', KEYS[1], 'b', '2', 'd', '3')",
    "return {redis.pcall('HGETALL', KEYS[1]).err == nil and 1, redis.pcall('HGETALL', KEYS[1])}",
    "return redis.call('HDEL', KEYS[1], 'b')",
    "return redis.call('HDEL', KEYS[1], 'b')",
    "return {1, redis.pcall('HGETALL', KEYS[1]), 2}",
    "return redis.call('PEXPIREAT', KEYS[1], '32503680000000')",
    "return redis.call('DEL', KEYS[1])",
    "return redis.call('DEL', KEYS[1])",
    "return redis.pcall('HGETALL', KEYS[1])",
    "return {#redis.call('TIME'), #redis.call('TIME')[2] <= 6 and 1, 3.9, false, {}}",
    "return math.max(tonumber(redis.call('TIME')[1]), 1500000000) > 1500000000 and 1",
]
"""Each as a script, in this order, on one key."""

SCRIPTS: Final = (
    RedisStore.CLAIM,
    RedisStore.RENEW,
    RedisStore.FINISH,
    RedisStore.RELEASE,
    RedisStore.READ,
)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    place = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", ""]
    with subprocess.Popen([program, *place], stdout=subprocess.DEVNULL) as server:
        client = Redis(port=port, protocol=2)
        while not answers(client):
            assert server.poll() is None, "redis-server did not start"
            time.sleep(0.02)
        yield client
        client.close()
        server.terminate()


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except NotUpError:
        return False


def test_knows_what_the_scripts_call_and_nothing_else() -> None:
    called = {name for each in SCRIPTS for name in re.findall(CALL, each.text)}
    assert {name for text in COMMANDS for name in re.findall(CALL, text)} == called


def test_to_every_command_of_the_scripts(redis: Redis) -> None:
    interpreter, keys = Interpreter(), Keyspace(World())
    for text in COMMANDS:
        script: Any = Script("")
        script.text = text
        script.sha = text
        keys.begin()
        simulated = interpreter.run(script, keys, b"key", [b"value"])
        assert simulated == redis.eval(text, 1, "key", "value"), text
