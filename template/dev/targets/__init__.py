"""Stand-ins of what a proxy starts: one module for each kind of target, found by being here."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol, runtime_checkable

Json = dict[str, Any]
Now = Callable[[], datetime]


@dataclass(frozen=True)
class ApiRequest:
    """A request that the stand-in got; header names are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Json


@dataclass(frozen=True)
class ApiAnswer:
    """What the stand-in answers."""

    status: int
    body: Json


class Api(Protocol):
    """One API with one thing that can be started in it.

    `target` is the full name of that thing, and `body` a job's request body that fits it. `starts`
    counts how often it was started, by token.
    """

    target: str
    body: ClassVar[Json]
    starts: Counter[str]

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Do what a request asks for."""


@runtime_checkable
class SearchedApi(Api, Protocol):
    """An API in which a proxy searches; it lists nothing while it is `blind`."""

    blind: bool


def names() -> list[str]:
    """Return the names of the stand-ins of this project."""
    return sorted(module.name for module in iter_modules(__path__))


def open_api(name: str, now: Now = lambda: datetime.now(UTC)) -> Api:
    """Return the stand-in of that name; `now` dates what is started."""
    api: Api = import_module(f"{__name__}.{name}").create(now)
    return api


def refusal(status: int, code: str, message: str) -> ApiAnswer:
    """Return an error as Google's APIs write it."""
    return ApiAnswer(status, {"error": {"code": status, "status": code, "message": message}})


def not_found(request: ApiRequest) -> ApiAnswer:
    """Return the answer to a request that the API does not know."""
    return refusal(404, "NOT_FOUND", f"{request.method} {request.path} is nothing here")


def page_of(items: list[Json], field: str, request: ApiRequest) -> ApiAnswer:
    """Return a page of `items`."""
    size = 50
    begin = int(request.query.get("pageToken", "0"))
    body: Json = {field: items[begin : begin + size]} if items else {}
    if begin + size < len(items):
        body["nextPageToken"] = str(begin + size)
    return ApiAnswer(200, body)


def written(moment: datetime) -> str:
    """Return a time as Google's APIs write it."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
