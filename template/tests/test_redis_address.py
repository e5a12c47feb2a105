"""The URL of a Redis store: what it can say, and that no error shows a password."""

import re

import pytest

from app.dedup.clock import SYSTEM_CLOCK
from app.dedup.stores import open_store
from app.dedup.stores.redis.address import Address
from tests.support.settings import errors

HOST = "redis://10.0.0.3"
SECURE = "rediss://10.0.0.3:6378"


def test_names_a_host_and_leaves_the_rest_to_defaults() -> None:
    address = Address.parse(HOST)
    assert (address.host, address.port, address.db) == ("10.0.0.3", 6379, 0)
    assert (address.username, address.password) == (None, None)
    assert address.prefix == "scheduler_runs:"
    assert not any((address.tls, address.cluster, address.iam, address.eviction_allowed))


def test_names_everything_that_can_be_said() -> None:
    address = Address.parse(
        "rediss://re%40der:s%2Fe%3Fcret%23@[::1]:6400/3"  # pragma: allowlist secret
        "?prefix=runs:&eviction=warn&ssl_ca_certs=/ca.pem&ssl_check_hostname=false"
    )
    assert (address.host, address.port, address.db) == ("::1", 6400, 3)
    assert (address.username, address.password) == ("re@der", "s/e?cret#")
    assert address.prefix == "runs:"
    assert address.tls
    assert address.eviction_allowed
    assert address.ca_certs == "/ca.pem"
    assert not address.check_hostname


def test_may_be_a_cluster_with_access_tokens() -> None:
    address = Address.parse(f"{SECURE}?cluster=true&auth=iam")
    assert address.cluster
    assert address.iam
    assert address.check_hostname


@pytest.mark.parametrize(
    "rest",
    [
        *("", "//", "///0", "//h/x", "//h/0/1", "//h:x", "//h#1", "//h:99999", "//user:pass@"),
        *("//[", "//h:0", "//a..b", "//.b", "//h%ff", "//h%20h", "//-h", "//[::g]", "//h\n"),
        *(f"//{'x' * 64}", f"//{'x.' * 127}x", "//b\u00fccher"),
    ],
)
def test_of_another_form_is_refused_with_the_form(rest: str) -> None:
    with pytest.raises(ValueError, match="expected redis://"):
        Address.parse(f"redis:{rest}")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"{HOST}?socket_timeout=5&retry=1", "no option retry, socket_timeout"),
        (f"{HOST}?prefix=a&prefix=b", "option prefix is there twice"),
        (f"{HOST}?cluster=yes", "cluster has to be true or false"),
        (f"{HOST}?eviction=ignore", "eviction has to be warn"),
        (f"{HOST}?prefix=", "prefix has to not be empty"),
        (f"{SECURE}?auth=token", "auth has to be iam"),
        (f"{HOST}?auth=iam", "auth needs TLS"),
        (f"{HOST}?ssl_ca_certs=/ca.pem", "ssl_ca_certs needs TLS"),
        (f"{SECURE}?ssl_check_hostname=0", "ssl_check_hostname has to be true or false"),
        ("rediss://:secret@h?auth=iam", "leave user and password out"),
        (f"{HOST}/1?cluster=true", "no database but 0"),
    ],
)
def test_with_an_unknown_or_impossible_option_is_refused_by_its_name(
    url: str, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Address.parse(url)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hidden@host?typo=1",
        "redis://user:hid@hidden@host/x",  # pragma: allowlist secret
        "redis://user:a/hidden@host",
        "redis://user:a:hidden@host:x",
        "redis://user:a?hidden@host",
        "redis://user:a#hidden@host",
        "redis://user:[hidden@host",
        "redis://host?password=hidden",
        "redis://user:" + "x" * 90 + "hidden@host/x",
        "rediss://user:hidden@host?auth=iam",  # pragma: allowlist secret
        "redis://:pa[hidden]ss@h",
        "redis://:hidden\uff0fx@h",
        "redis:hidden@10.0.0.3:6379",
        "redis:/:hidden@h",
        "rediss://h?auth=hidden",
        "rediss://h?pass=hidden",
        "redis://user:hidden",
        "redis://user:1?hidden&x@h",
        "redis://user:1/hidden@h",
    ],
)
def test_that_is_refused_is_shown_without_its_password(url: str) -> None:
    """R39: the message goes to the log."""
    with pytest.raises(ValueError, match=r".") as refused:
        Address.parse(url)
    assert "hidden" not in str(refused.value)
    error = "\n".join(errors({"AUTH": "off", "RUN_STORE_URL": url}))
    assert error.startswith("RUN_STORE_URL: ")
    assert "hidden" not in error
    assert "xxx" not in error


def test_password_is_in_no_representation() -> None:
    address = Address.parse("redis://user:hidden@host")  # pragma: allowlist secret
    assert "hidden" not in repr(address)


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_is_opened_without_a_connection(scheme: str) -> None:
    open_store(f"{scheme}://no-such-host.invalid", SYSTEM_CLOCK).close()


@pytest.mark.parametrize("host", ["h", "10.0.0.3", "[fe80::1%25eth0]", "a_b.c-d.e.", "x" * 63])
def test_names_a_host_that_can_be_looked_up(host: str) -> None:
    assert Address.parse(f"redis://{host}:1").port == 1
