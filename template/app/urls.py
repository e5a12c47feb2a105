"""URLs as people write them. No error quotes what may be a password (R39)."""

import ipaddress
import re
from collections.abc import Collection
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

_LABEL: Final = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?", re.ASCII)
_LONGEST_NAME: Final = 253


def split(url: str) -> SplitResult:
    """Take a URL apart.

    Raises:
        ValueError: it is none.
    """
    # A newline or a tab would be left out without a word.
    if not url.isprintable():
        raise ValueError("it is no URL")
    try:
        return urlsplit(url)
    except ValueError:
        # Its message would quote the part that is wrong.
        raise ValueError("it is no URL") from None


def host_of(parts: SplitResult) -> tuple[str, int | None]:
    """Return the host and the port of a URL that is about a server.

    Raises:
        ValueError: the host cannot be looked up, or the port is no number from 1 to 65535.
    """
    host = parts.hostname or ""
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0 or not is_host(host):
        raise ValueError("it names no server")
    return host, port


def is_host(text: str) -> bool:
    """Tell whether `text` can be looked up: a name in DNS, or an IP address."""
    if ":" not in text:
        return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def options(query: str, known: Collection[str]) -> dict[str, str]:
    """Return the options of a store's URL by their names.

    Raises:
        ValueError: one is not `known`, or is there twice.
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in pairs]
    if unknown := set(names) - set(known):
        # A name that is no word may be a piece of a password with a question mark in it; so may
        # be every one where the host comes behind.
        shown = [name for name in sorted(unknown) if re.fullmatch(r"[A-Za-z_]{1,40}", name)]
        listed = ", ".join(shown if "@" not in query else []) or "of that name"
        there = f"there are {', '.join(known)}" if known else "there are none"
        raise ValueError(f"there is no option {listed} here; {there}")
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"the option {', '.join(sorted(twice))} is there twice; give it once")
    return dict(pairs)


def without_account(url: str) -> str:
    """Return a store's URL that was found good, without the account, as it may be shown."""
    return re.sub(r"\A([A-Za-z]+://)[^/?#]*@", r"\1***@", url)
