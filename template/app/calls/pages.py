"""A search through all pages of a list."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from app.calls.answers import Json, understood
from app.calls.client import Client
from app.dedup import Attempt, OutcomeUnknown


def found_in_pages(
    client: Client,
    path: str,
    attempt: Attempt,
    *,
    query: Mapping[str, str],
    items: str,
    wanted: Callable[[Json], bool],
) -> Json | None:
    """Return the first item that is wanted, None if no page up to the last has one.

    The answers to `query` list their items in the field `items`. An answer that does not say what
    it should is an `OutcomeUnknown`: taking it for an empty list would start a second time.
    """
    token = ""
    while True:
        more = {"pageToken": token} if token else {}
        page = understood(client.call("GET", path, attempt, query={**query, **more}))
        listed = page.get(items, [])
        if "error" in page:
            raise OutcomeUnknown(f"the list at {path} has an error in it")
        if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
            raise OutcomeUnknown(f"the list at {path} has something else than objects in {items}")
        for item in listed:
            if wanted(item):
                return dict(item)
        following = page.get("nextPageToken") or ""
        if not isinstance(following, str) or (following and following == token):
            raise OutcomeUnknown(f"the list at {path} has no end")
        if not following:
            return None
        token = following


def since_filter(field: str, since: datetime | None) -> list[str]:
    """Return the condition that `field` is not before `since`, as Google's lists take it."""
    if since is None:
        return []
    return [f'{field}>="{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"']
