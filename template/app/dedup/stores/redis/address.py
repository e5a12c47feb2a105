"""The URL of a Redis store, read and checked without a connection."""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from app.urls import host_of, options, split

_FORM: Final = (
    "expected redis://[USER:PASSWORD@]HOST[:PORT][/DB], or rediss:// for TLS, with"
    " percent-encoded special characters, for example rediss://10.0.0.3:6378?auth=iam"
)
_OPTIONS: Final = {
    "prefix": r".+",
    "cluster": r"true|false",
    "auth": r"iam",
    "eviction": r"warn",
    "ssl_ca_certs": r".+",
    "ssl_check_hostname": r"true|false",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a Redis store is, as whom to go there, and what to accept there.

    Attributes:
        host: Name or IP address; of any node, for a cluster.
        port: TCP port.
        db: Number of the database; a cluster has only 0.
        username: None is the default user.
        password: None where there is none, and with `iam`.
        tls: Connect by TLS (`rediss`).
        prefix: What the keys begin with (`?prefix=scheduler_runs:`).
        cluster: The host is a node of a cluster (`?cluster=true`).
        iam: The password is an access token of the Google account that this runs as (`?auth=iam`).
        eviction_allowed: Only warn of a server that may evict records (`?eviction=warn`).
        ca_certs: File of the certificate authorities to trust, in PEM, in place of the system's
            (`?ssl_ca_certs=FILE`).
        check_hostname: The certificate has to be for this host (`?ssl_check_hostname=false`).
    """

    host: str
    port: int
    db: int
    username: str | None
    password: str | None = field(repr=False)
    tls: bool
    prefix: str
    cluster: bool
    iam: bool
    eviction_allowed: bool
    ca_certs: str | None
    check_hostname: bool

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Read a URL.

        Raises:
            ValueError: with what is wrong, in words that show nothing of a password.
        """
        try:
            parts = split(url)
            host, port = host_of(parts)
        except ValueError:
            raise ValueError(_FORM) from None
        db = re.fullmatch(r"/?|/(\d{1,5})", parts.path, re.ASCII)
        if db is None or parts.fragment:
            raise ValueError(_FORM)
        given = _options(parts.query)
        address = cls(
            host=unquote(host),
            port=port or 6379,
            db=int(db[1] or 0),
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            tls=parts.scheme == "rediss",
            prefix=given.get("prefix", "scheduler_runs:"),
            cluster=given.get("cluster") == "true",
            iam="auth" in given,
            eviction_allowed="eviction" in given,
            ca_certs=given.get("ssl_ca_certs"),
            check_hostname=given.get("ssl_check_hostname") != "false",
        )
        _check(address, given)
        return address


def _options(query: str) -> dict[str, str]:
    given = options(query, _OPTIONS)
    for name, value in given.items():
        if not re.fullmatch(_OPTIONS[name], value):
            wanted = "not be empty" if _OPTIONS[name] == ".+" else f"be {_OPTIONS[name]}"
            raise ValueError(f"the option {name} has to {wanted}".replace("|", " or "))
    return given


def _check(address: Address, given: dict[str, str]) -> None:
    if address.iam and (address.username or address.password):
        raise ValueError("auth=iam sends access tokens; leave user and password out of the URL")
    needing_tls = [name for name in given if name == "auth" or name.startswith("ssl_")]
    if needing_tls and not address.tls:
        raise ValueError(f"the option {needing_tls[0]} needs TLS: begin the URL with rediss://")
    if address.cluster and address.db:
        raise ValueError("a cluster has no database but 0; leave it out of the URL")
