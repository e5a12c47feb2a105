"""An HTTP endpoint that is called with the token in `Idempotency-Key`, and an OIDC token.

What was called cannot be searched, so it is the endpoint that keeps a repetition from taking effect
twice. Source: IETF draft "The Idempotency-Key HTTP Header Field".
"""

from functools import partial
from typing import Final
from urllib.parse import urlsplit

from google.auth.credentials import Credentials
from google.auth.transport.requests import Request
from google.oauth2 import id_token

from app import urls
from app.calls.answers import check
from app.calls.client import Client, is_loopback
from app.dedup import Attempt
from app.dedup.clock import Clock
from app.targets import Result

FORM: Final = "https://HOST/PATH"
PATTERN: Final = (
    r"https://[^/?#@\s]+([/?][^#\s]*)?"
    r"|http://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?([/?][^#\s]*)?"
)

_CONTENT_TYPE: Final = "application/octet-stream"


class Endpoint:
    """Posts to one URL."""

    def __init__(self, path: str, client: Client) -> None:
        self._path = path
        self._client = client

    def start(self, token: str, attempt: Attempt) -> Result:
        """Post the job's request body as it is."""
        answer = self._client.call(
            "POST",
            self._path,
            attempt,
            body=attempt.body,
            headers={
                "Content-Type": attempt.headers.get("content-type", _CONTENT_TYPE),
                "Idempotency-Key": token,
            },
        )
        check(answer)
        return {"status": answer.status}


def open_name(name: str, endpoint: str, clock: Clock) -> Endpoint:
    """Return the endpoint of that URL."""
    parts = urls.split(name)
    urls.host_of(parts)
    if parts.scheme == "http" and not is_loopback(name):
        raise ValueError("http is for this machine only; expected https://HOST/PATH")
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    base = endpoint or f"{parts.scheme}://{parts.netloc}"
    return Endpoint(path, Client(base, partial(_credentials, audience_of(name)), clock))


def audience_of(url: str) -> str:
    """Return the audience of a token for `url`: its root, but the whole of a function's own URL.

    Cloud Run takes its root URLs, and `cloudfunctions.net` takes only the function's URL.
    """
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    is_function = (parts.hostname or "").endswith(".cloudfunctions.net")
    return f"{root}{parts.path}" if is_function else root


def _credentials(audience: str) -> Credentials:
    made: Credentials = id_token.fetch_id_token_credentials(  # type: ignore[no-untyped-call]
        audience,
        request=Request(),
    )
    return made
