"""The stores of this project, opened by URL."""

from importlib import import_module
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from app.dedup.clock import SYSTEM_CLOCK, Clock
from app.dedup.store import Store

_SCHEMES: Final = {"sqlite": "sqlite", "firestore": "firestore"}
"""URL scheme -> module of this package with `open_url(url, clock)`."""


def open_store(url: str, clock: Clock = SYSTEM_CLOCK) -> Store:
    """Open the store at `url` without connecting to it yet (`RUN_STORE_URL`).

    Raises:
        ValueError: the URL is malformed, or no store of this project has its scheme. The message
            says which there are and how to get another.
    """
    scheme = urlsplit(url).scheme
    if scheme not in supported_schemes():
        raise ValueError(
            f"the scheme {scheme!r} is not supported here; this project has"
            f" {', '.join(f'{name}://' for name in supported_schemes())}. Another store is added by"
            " the template's question `store` (copier update)"
        )
    store: Store = import_module(f"{__name__}.{_SCHEMES[scheme]}").open_url(url, clock)
    return store


def supported_schemes() -> list[str]:
    """Return the URL schemes whose stores are part of this project."""
    return [name for name, module in _SCHEMES.items() if find_spec(f"{__name__}.{module}")]
