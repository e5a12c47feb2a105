"""The bearer token of a request: reading it, and comparing what a genuine one says."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from app.auth import Forbidden, Unauthenticated
from app.dedup.delivery import Headers

REMOVED_SIGNATURE: Final = "SIGNATURE_REMOVED_BY_GOOGLE"
"""What Cloud Run puts in the place of the signature of a token that it has verified."""

MAX_HEADER_LENGTH: Final = 8192
"""Characters. Google's tokens have about a thousand."""

_ISSUERS: Final = ("https://accounts.google.com", "accounts.google.com")
_JSON_WEB_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A well-formed token. Nothing in it is proved by having been read."""

    text: str = field(repr=False)
    header: Mapping[str, object]
    claims: Mapping[str, object]
    signature: str = field(repr=False)


def read_token(headers: Headers, name: str = "authorization") -> BearerToken:
    """Return the bearer token in the header `name` (lower case).

    Raises:
        Unauthenticated: the header is missing, is there more than once, or holds no such token.
    """
    title = name.title()
    values = headers.get(name, ())
    if not values:
        raise Unauthenticated(f"the request has no {title} header")
    # Some servers join repeated headers with commas; neither a scheme nor a token contains one.
    if len(values) > 1 or "," in values[0]:
        raise Unauthenticated(f"the request has more than one {title} header")
    if len(values[0]) > MAX_HEADER_LENGTH:
        raise Unauthenticated(f"the {title} header is longer than {MAX_HEADER_LENGTH} characters")
    scheme, _, credentials = values[0].strip(" ").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated(f"the scheme of the {title} header is not Bearer")
    text = credentials.lstrip(" ")
    parts = _JSON_WEB_TOKEN.fullmatch(text)
    if parts is None:
        raise Unauthenticated("the token is not a JSON Web Token (three base64url parts with dots)")
    return BearerToken(
        text=text,
        header=_json_object(parts[1], "header"),
        claims=_json_object(parts[2], "payload"),
        signature=parts[3],
    )


def check_claims(claims: Mapping[str, object], *, audience: str, service_account: str) -> None:
    """Return if a genuine token is Google's, for this service and of this account.

    Args:
        claims: the payload of a token whose signature somebody has verified.
        audience: the `aud` to expect; `""` compares none.
        service_account: the `email` to expect; several are separated by commas.

    Raises:
        Unauthenticated: another issuer or audience, or no proved account.
        Forbidden: another account.
    """
    issuer, found_audience, email = claims.get("iss"), claims.get("aud"), claims.get("email")
    if issuer not in _ISSUERS:
        raise Unauthenticated(f"the token's issuer is {_shown(issuer)}, not Google")
    if audience and found_audience != audience:
        raise Unauthenticated(
            f"the token's audience is {_shown(found_audience)}, expected {_shown(audience)}"
        )
    if not isinstance(email, str):
        raise Unauthenticated("the token names no account (no `email`)")
    if claims.get("email_verified") is not True:
        raise Unauthenticated("the token's account is not verified (`email_verified` is not true)")
    if not email or email not in service_account.split(","):
        raise Forbidden(f"the token belongs to {_shown(email)}, expected {_shown(service_account)}")


def _json_object(part: str, what: str) -> dict[str, object]:
    try:
        data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        value = json.loads(data.decode("utf-8"))
    # Deep nesting ends in a RecursionError. The cause would show the token, so it is left out.
    except (ValueError, RecursionError):
        raise Unauthenticated(f"the token's {what} is not base64url of JSON") from None
    if not isinstance(value, dict):
        raise Unauthenticated(f"the token's {what} is not a JSON object")
    return value


def _shown(value: object) -> str:
    if isinstance(value, str):
        return ascii(value[:200])
    return "missing" if value is None else "not a string"
