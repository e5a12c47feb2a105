"""Redis over TLS: the scheme `rediss`, whose store is the same."""

from app.dedup.stores.redis import open_url

__all__ = ["open_url"]
