"""What the proxy starts: one module for each kind of target, found by the form of `TARGET`."""

import re
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from app import urls
from app.calls.client import is_loopback
from app.dedup import Attempt
from app.dedup.clock import SYSTEM_CLOCK, Clock

Result = dict[str, object]
"""What is kept of a start and shown to duplicates: its `name`, and its `state` where known."""


class Target(Protocol):
    """Something that is started once per run. One instance serves all threads."""

    def start(self, token: str, attempt: Attempt) -> Result:
        """Start it, with the run's token in what it gets; call the API once.

        Raises:
            GiveUp: the API refuses, and no retry can help.
            OutcomeUnknown: it may have been started or not.
            Exception: it was not started, and a retry can help.
        """


@runtime_checkable
class Searchable(Target, Protocol):
    """A target whose API knows no request id: what was started is searched by its token."""

    def find(self, token: str, attempt: Attempt, since: datetime | None) -> Result | None:
        """Return what bears the token and is not older than `since`, or None if nothing does.

        Raises:
            Exception: nobody can tell.
        """


def open_target(name: str, endpoint: str = "", clock: Clock = SYSTEM_CLOCK) -> Target:
    """Return the target that `TARGET` names, without calling it yet.

    Args:
        name: full resource name or URL.
        endpoint: scheme and host to call instead of the real ones (`TARGET_ENDPOINT`), or `""`.
        clock: tells how much of an attempt's time is left.

    Raises:
        ValueError: `name` has the form of no target of this project; the message says which.
    """
    for module in _modules():
        if re.fullmatch(module.PATTERN, name):
            target: Target = module.open_name(name, endpoint.rstrip("/"), clock)
            return target
    raise ValueError(
        f"this project starts {' or '.join(target_forms())}; another target is chosen by the"
        " template's question `target`: copier update -d target=NAME"
    )


def target_forms() -> list[str]:
    """Return the form of `TARGET` for each target of this project."""
    return [module.FORM for module in _modules()]


def check_endpoint(url: str) -> str | None:
    """Return what is wrong with a `TARGET_ENDPOINT`, None if nothing is."""
    try:
        parts = urls.split(url)
        urls.host_of(parts)
    except ValueError:
        parts = urls.split("")
    root = f"{parts.scheme}://{parts.netloc}"
    plain = url.rstrip("/") == root and "@" not in root
    if plain and (parts.scheme == "https" or _is_local_http(url)):
        return None
    return "expected scheme and host, https://HOST, or http://127.0.0.1:PORT on this machine"


def _is_local_http(url: str) -> bool:
    return urlsplit(url).scheme == "http" and is_loopback(url)


def _modules() -> Iterator[ModuleType]:
    for module in iter_modules(__path__):
        yield import_module(f"{__name__}.{module.name}")
