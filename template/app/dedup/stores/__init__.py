"""The stores of this project, opened by URL."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from app.dedup.clock import SYSTEM_CLOCK, Clock
from app.dedup.store import Store

_NOT_STORES: Final = ("budget", "conditional")


def open_store(url: str, clock: Clock = SYSTEM_CLOCK) -> Store:
    """Open the store at `url` without connecting to it yet (`RUN_STORE_URL`).

    Raises:
        ValueError: the URL is malformed, or no store of this project has its scheme. The message
            says which there are and how to get another, and quotes no part of the URL that may
            be a password.
    """
    scheme = scheme_of(url)
    if scheme is None:
        # Without "://", what comes first may be a password.
        told, found, _ = url.partition("://")
        raise ValueError(
            f"its scheme{f' {told!r}' if found else ''} is not supported here; this project has"
            f" {', '.join(store_forms())}. Another store is added by the template's question"
            " `store`: copier update -d store=NAME"
        )
    store: Store = import_module(f"{__name__}.{scheme}").open_url(url, clock)
    return store


def scheme_of(url: str) -> str | None:
    """Return the scheme of `url` if a store of this project has it, whatever comes after."""
    scheme = url.partition(":")[0].lower()
    return scheme if scheme in supported_schemes() else None


def supported_schemes() -> list[str]:
    """Return the URL schemes of this project's stores: each has a module of that name.

    A scheme has no underscore; a module with one is a part of a store.
    """
    names = (module.name for module in iter_modules(__path__))
    return sorted(name for name in names if name not in _NOT_STORES and "_" not in name)


def store_forms() -> list[str]:
    """Return the beginning of the URL of each store of this project."""
    return [f"{scheme}://..." for scheme in supported_schemes()]
