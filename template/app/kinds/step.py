"""A step is asked for by services that run further up, and is done once per Idempotency-Key.

The header is that of the IETF draft "The Idempotency-Key HTTP Header Field".
"""

import re
from typing import Final

from app.dedup.delivery import BadDelivery, Headers, JobScope, Query, read_scope, shown
from app.dedup.step import Step
from app.environment import Reader
from app.kinds import Kind
from app.kinds.own_job import own_job

KEY_HEADER: Final = "Idempotency-Key"
TRIGGER: Final = "step"
SETTLE_TIME: Final = 0.0
"""A run whose attempt has died is taken over as soon as the lease is over."""

# Two headers may arrive as one, joined by a comma, which only quotes can keep apart from a key's.
_BARE: Final = re.compile(r'(?!")[ -+\--~]{1,255}')
_QUOTED: Final = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_ESCAPED: Final = re.compile(r"\\(.)")


def create(read: Reader) -> Kind:
    """Return the step that `app/job.py` does."""
    return Kind(read_step, own_job(read), compares_payload=True)


def read_step(headers: Headers, path: str, query: Query, scope: JobScope) -> Step:
    """Read which run a request asks for (R37).

    Raises:
        BadDelivery: the key is missing, repeated or malformed, or the scope is (R05).
    """
    values = headers.get(KEY_HEADER.lower(), ())
    if not values:
        raise BadDelivery(
            f"The header {KEY_HEADER} is missing. Send the token of what is asked for, the same one"
            " in every repetition."
        )
    if len(values) > 1:
        raise BadDelivery(f"The header {KEY_HEADER} was sent {len(values)} times; send it once.")
    project, location = read_scope(headers, path, query, scope)
    return Step(_key(values[0]), TRIGGER, project, location)


def _key(value: str) -> str:
    """Return the key of a quoted string or of a bare one; both forms of a key are one key."""
    if _BARE.fullmatch(value):
        return value
    match = _QUOTED.fullmatch(value)
    key = _ESCAPED.sub(r"\1", match[1]) if match else ""
    if not 1 <= len(key) <= 255:
        raise BadDelivery(
            f"The header {KEY_HEADER} is {shown(value)}, which is no key: 1 to 255 printable ASCII"
            " characters, in double quotes if there is a comma among them. The header is expected"
            " once."
        )
    return key
