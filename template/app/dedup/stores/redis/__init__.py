"""Redis and Valkey, Memorystore's too: one hash per run, one Lua script per operation.

`address` reads the URL, `client` connects, `store` is the protocol.
"""

from app.dedup.clock import Clock
from app.dedup.stores.redis.address import Address
from app.dedup.stores.redis.client import connect
from app.dedup.stores.redis.store import RedisStore

__all__ = ["open_url"]


def open_url(url: str, clock: Clock) -> RedisStore:
    """Open `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`, or `rediss://…` over TLS.

    Raises:
        ValueError: the URL is malformed or has an option that is not known. No password is shown.
    """
    address = Address.parse(url)
    return RedisStore(
        lambda: connect(address),
        address.prefix,
        clock,
        eviction_allowed=address.eviction_allowed,
    )
