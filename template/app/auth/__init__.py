"""Who calls: one authenticator for each value of `AUTH` (R33).

The Scheduler headers prove nothing about the caller (R07); a token does. Each mode is a module of
this package, and a project has the one that it was made with. `off` is for one's own machine.
"""

import base64
import importlib
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from app.dedup.delivery import Headers

OFF: Final = "off"

SUPPORTED: Final = (
    *(mode for mode in ("iam", "verify") if importlib.util.find_spec(f"{__name__}.{mode}")),
    OFF,
)
"""The modes that this project has: those whose module is there, and `off`."""

REMOVED_SIGNATURE: Final = "SIGNATURE_REMOVED_BY_GOOGLE"
"""What Cloud Run puts in the place of the signature of a token that it has verified."""

MAX_HEADER_LENGTH: Final = 8192
"""Characters. Google's tokens have about a thousand."""

_ISSUERS: Final = ("https://accounts.google.com", "accounts.google.com")
_JSON_WEB_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")


class _AuthError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        """For the answer and the log: it never contains the token."""


class Unauthenticated(_AuthError):
    """There is no token, or one that proves nothing: 401."""


class Forbidden(_AuthError):
    """The token is good and belongs to another account: 403."""


class CannotVerify(_AuthError):
    """Nothing can be said about the token just now: 500 `unavailable`, so that it is sent again."""


class Authenticator(Protocol):
    """Decides who may start a run. One instance serves all threads."""

    def authenticate(self, headers: Headers) -> None:
        """Return if the request comes from the job's service account.

        Raises:
            Unauthenticated: no token, or a bad one.
            Forbidden: a good token of another account.
            CannotVerify: the token cannot be checked at the moment.
        """


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A well-formed token. Nothing in it is proved by having been read."""

    text: str = field(repr=False)
    header: Mapping[str, object]
    claims: Mapping[str, object]
    signature: str = field(repr=False)


def open_authenticator(mode: str, *, audience: str, service_account: str) -> Authenticator:
    """Return the authenticator of a mode; only that mode's module is imported.

    Args:
        mode: one of `SUPPORTED`.
        audience: what the token must be meant for, the service's root URL; `""` where none is set.
        service_account: the email of the one account that may start runs.

    Raises:
        ValueError: this project does not have the mode, or the mode needs a value that is empty.
    """
    if mode not in SUPPORTED:
        raise ValueError(
            f"AUTH is {mode!r}, and this project supports {' and '.join(SUPPORTED)}. "
            "Run `copier update` and answer the question `auth` to get another mode."
        )
    if mode == OFF:
        return _Anyone()
    module = importlib.import_module(f"{__name__}.{mode}")
    authenticator: Authenticator = module.create(audience=audience, service_account=service_account)
    return authenticator


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
        service_account: the `email` to expect.

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
    if email != service_account:
        raise Forbidden(f"the token belongs to {_shown(email)}, expected {_shown(service_account)}")


class _Anyone:
    def authenticate(self, headers: Headers) -> None:
        """Accept every request."""


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
