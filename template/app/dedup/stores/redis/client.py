"""The client of a Redis store: how it connects, as whom, and what its errors mean."""

import re
import ssl
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.credentials import CredentialProvider
from redis.retry import Retry

from app.dedup.store import StoreError, UnsafeStore
from app.dedup.stores.conditional import Unclear
from app.dedup.stores.redis.address import Address
from app.logs import Log

Client = Redis | RedisCluster

SOCKET_TIMEOUT: Final = 1.0
"""Seconds to connect, and for each answer. A script takes less than a millisecond (R26)."""

_TOKEN_TIMEOUT: Final = 3.0
_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"

_NOT_NOW: Final = ("BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "NOREPLICAS", "TRYAGAIN")
"""Codes of errors that say that nothing was done, and that pass."""

_IN_SCRIPT: Final = re.compile(r"(?:ERR )?Error running script \(call to \w+\): .*?: -([A-Z]+) ")
"""What servers before Redis 7 put around the error of a command in a script, and its code."""

_log = Log(__name__)


class Stale(Unclear):
    """The client's idea of who serves the records is no longer true; a new one would find out."""


class GoogleToken(CredentialProvider):
    """Gives each new connection an access token of the account that this runs as.

    A token lives for about an hour. A connection that was made with it lives on after that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._credentials: Any = None

    def get_credentials(self) -> tuple[str, str]:
        """Return user and password, with a token that is fresh for some minutes at the least."""
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
        from google.auth.transport.requests import Request

        with self._lock:
            try:
                if self._credentials is None:
                    self._credentials, _ = google.auth.default(scopes=[_SCOPE])
                if not self._credentials.valid:
                    self._credentials.refresh(partial(Request(), timeout=_TOKEN_TIMEOUT))
            # The client closes its connection for errors of its own kinds only.
            except DefaultCredentialsError as error:
                raise exceptions.AuthenticationError(str(error)) from error
            except GoogleAuthError as error:
                raise exceptions.ConnectionError(f"no access token came: {error}") from error
            return "default", self._credentials.token


def connect(address: Address) -> Client:
    """Make the client; a cluster is asked for its nodes at once. Never retries by itself."""
    settings: dict[str, Any] = {
        "socket_timeout": SOCKET_TIMEOUT,
        "socket_connect_timeout": SOCKET_TIMEOUT,
        # With the newer protocol each connection would begin with more than its password.
        "protocol": 2,
        "driver_info": None,
    }
    if address.iam:
        settings["credential_provider"] = GoogleToken()
    else:
        settings |= {"username": address.username, "password": address.password}
    if address.tls:
        settings |= {
            "ssl": True,
            "ssl_ca_certs": address.ca_certs,
            "ssl_check_hostname": address.check_hostname,
        }
    # A retry of the client's would not count as one, and has no end in time.
    never = Retry(NoBackoff(), 0)
    if address.cluster:
        return RedisCluster(host=address.host, port=address.port, retry=never, **settings)
    return Redis(host=address.host, port=address.port, db=address.db, retry=never, **settings)


def check(client: Client, *, eviction_allowed: bool) -> None:
    """Look whether the servers keep what they are given, and log what they cannot promise.

    Raises:
        UnsafeStore: a server may evict records, and `eviction_allowed` is false.
    """
    policies = _eviction_policies(client) - {"noeviction"}
    if policies:
        risk = f"Redis may evict records, its maxmemory-policy is {', '.join(sorted(policies))}"
        if not eviction_allowed:
            raise UnsafeStore(
                f"{risk}; set it to noeviction, or accept that runs may be done twice by"
                " eviction=warn in the URL"
            )
        _log.warning(f"{risk}: a run whose record is gone is done again.")
    _log.info(
        "Redis replicates asynchronously: after a failover it may not know the newest claims and"
        " ends of runs, and such a run is done once more."
    )


def servers(client: Client) -> list[Redis]:
    """Return a client of each server that takes writes."""
    if not isinstance(client, RedisCluster):
        return [client]
    nodes = client.get_primaries()  # type: ignore[no-untyped-call]
    return [client.get_redis_connection(node) for node in nodes]


def by_server(client: Client, keys: Iterable[str]) -> list[tuple[Redis, list[str]]]:
    """Return each server that has any of `keys`, as far as the client knows, with those keys."""
    if not isinstance(client, RedisCluster):
        return [(client, [*keys])]
    found: dict[str, tuple[Redis, list[str]]] = {}
    for key in keys:
        node = client.get_node_from_key(key)  # type: ignore[no-untyped-call]
        server = client.get_redis_connection(node)
        found.setdefault(node.name, (server, []))[1].append(key)
    return [*found.values()]


def _eviction_policies(client: Client) -> set[str]:
    try:
        answers = [server.info("memory") for server in servers(client)]
    except exceptions.NoPermissionError:
        return {"unknown (this account may not use INFO)"}
    return {str(answer.get("maxmemory_policy", "unknown")) for answer in answers}


@contextmanager
def errors() -> Iterator[None]:
    """Turn the client's errors into those of a store."""
    try:
        yield
    except (exceptions.RedisError, exceptions.RedisClusterException) as error:
        raise _meaning(error) from error
    # A host or a password that cannot be sent, for example.
    except ValueError as error:
        raise StoreError(f"Redis cannot be asked like this: {error}") from error


def _meaning(error: Exception) -> StoreError:
    """Tell what was surely not done from what nobody knows (R26)."""
    text = str(error)
    # What the first node of a cluster says comes wrapped.
    wrapped = isinstance(error, exceptions.RedisClusterException)
    said = (error.__cause__ or error) if wrapped else error
    code = _code(said)
    match said:
        case (
            exceptions.AuthenticationError()
            | exceptions.AuthenticationWrongNumberOfArgsError()
            | exceptions.AuthorizationError()
            | exceptions.NoPermissionError()
        ):
            return StoreError(f"Redis refused the account: {text}")
        case _ if code == "OOM":
            return StoreError(f"Redis is full and needs a higher maxmemory: {text}")
        case exceptions.MovedError():
            return StoreError("Redis is a cluster here: add cluster=true to the URL's options")
        case exceptions.RedisClusterException() if "mode is not enabled" in text:
            return StoreError("Redis is no cluster here: leave cluster=true out of the URL")
        case exceptions.ConnectionError(__context__=ssl.SSLCertVerificationError()):
            return StoreError(f"Redis is not trusted: {text}")
        case _ if code == "READONLY":
            return Stale(f"Redis takes no writes here: {text}")
        case exceptions.ResponseError() if code not in _NOT_NOW:
            return StoreError(f"Redis refused: {text}")
        case _:
            return (Stale if wrapped else Unclear)(f"Redis did not answer clearly: {text}")


def _code(error: BaseException) -> str:
    """Return the first word of an error answer, which some errors have lost from their text."""
    if inner := _IN_SCRIPT.match(str(error)):
        return inner[1]
    return getattr(error, "status_code", None) or str(error).partition(" ")[0]
