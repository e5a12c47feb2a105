"""The job's request body, into which the token goes."""

import json
from collections.abc import Mapping
from typing import Any

from app.dedup import Attempt, GiveUp
from app.dedup.delivery import Instant, shown

Body = dict[str, Any]
"""A JSON object that the job's owner wrote: anything can be in it."""


def body_of(attempt: Attempt, *reserved: str) -> Body:
    """Return the job's request body, `{}` where it has none.

    Raises:
        GiveUp: it is no JSON object, or has one of the `reserved` names, which are the proxy's.
    """
    if not attempt.body.strip():
        return {}
    try:
        body = json.loads(attempt.body)
    except (ValueError, RecursionError) as error:
        raise GiveUp(f"the job's request body is no JSON: {error}; correct the job") from None
    if not isinstance(body, dict):
        raise GiveUp("the job's request body is JSON, but no object; correct the job")
    for name in reserved:
        if name in body:
            raise GiveUp(
                f"the job's request body has {shown(name)} in it, which the proxy sets; take it out"
            )
    return body


def part(body: Body, name: str) -> Body:
    """Return the object `name` of `body`, which is put there if it is missing.

    Raises:
        GiveUp: it is something else.
    """
    found = body.setdefault(name, {})
    if not isinstance(found, dict):
        raise GiveUp(f"{shown(name)} in the job's request body is no object; correct the job")
    return found


def dumped(body: Mapping[str, object]) -> bytes:
    """Return a body as it is sent.

    Raises:
        GiveUp: it has half a surrogate pair in it, which is no Unicode.
    """
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise GiveUp("the job's request body has text that is no Unicode; correct it") from None


def schedule_time_of(attempt: Attempt) -> str:
    """Return the scheduled time as it goes downstream: RFC 3339, in UTC."""
    return Instant.of(attempt.schedule_time).text
