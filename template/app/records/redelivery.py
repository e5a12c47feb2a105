"""Delivering a run again: the HTTP request, and the same as a command for the shell."""

import http.client
import json
import re
import shlex
from dataclasses import dataclass
from typing import Final, NoReturn
from urllib.parse import SplitResult, urlsplit

from app import urls
from app.records.report import Mistake
from app.records.runs import Sent

_BINARY: Final = "application/octet-stream"
_DONE: Final = ("processed", "duplicate")
_ENDED: Final = ("duplicate", "gave_up")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service said: its status and the fields of its JSON."""

    status: int
    fields: dict[str, object]

    def completes(self, run_id: str) -> bool:
        """Tell whether the run is completed now."""
        return self._says(_DONE, run_id)

    def knows(self, run_id: str) -> bool:
        """Tell whether the service has found the run's record, and that the run has ended.

        So the address, the caller and the key are right, which nothing but a delivery shows.
        """
        return self._says(_ENDED, run_id)

    def is_of(self, run_id: str) -> bool:
        """Tell whether the answer is about the run, as far as it says about which it is."""
        return self.fields.get("run_id", run_id) == run_id

    def _says(self, outcomes: tuple[str, ...], run_id: str) -> bool:
        return (
            self.status == 200
            and self.fields.get("outcome") in outcomes
            and self.fields.get("run_id") == run_id
        )

    @property
    def outcome(self) -> str:
        """What the service said about the run, for people."""
        told = (self.fields.get(name) for name in ("outcome", "reason"))
        return ", ".join(str(each) for each in told if each)


@dataclass(frozen=True, slots=True)
class Redelivery:
    """A delivery with all that the job sends besides.

    `with_token` says whether the command for the shell has to send one.
    """

    sent: Sent
    headers: tuple[tuple[str, str], ...]
    body: bytes
    with_token: bool

    def all_headers(self) -> dict[str, str]:
        """Return every header except for the token."""
        kind = {"Content-Type": _BINARY} if self.body and not self._says_type() else {}
        return {**kind, **dict(self.headers), **self.sent.headers}

    def command(self, url: str) -> str:
        """Return the command that delivers it to `url`, or to $SERVICE_URL."""
        words = ["curl", "-X", "POST"]
        for name, value in self.all_headers().items():
            words += ["-H", shlex.quote(f"{name}: {value}")]
        if not self.body and not self._says_type():
            words += ["-H", "Content-Type:"]
        if self.with_token:
            words += ["-H", '"Authorization: Bearer $ID_TOKEN"']
        words += ["--data-raw", shlex.quote(self.body.decode())]
        base = "" if url else '"$SERVICE_URL"'
        return " ".join([*words, base + shlex.quote(self._address(url))])

    def connect(self, url: str, timeout: float) -> http.client.HTTPConnection:
        """Open a connection; nothing is sent yet. `timeout` is in seconds, also for the answer.

        Raises:
            OSError: nobody listens there.
        """
        parts = split_url(url)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=timeout)
        connection.connect()
        return connection

    def send(self, connection: http.client.HTTPConnection, url: str, token: str) -> Answer:
        """Send it and wait for the answer.

        Raises:
            OSError: the answer did not come.
            http.client.HTTPException: it is no HTTP.
        """
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        target = split_url(self._address(url))._replace(scheme="", netloc="").geturl()
        connection.request("POST", target, self.body, {**self.all_headers(), **bearer})
        response = connection.getresponse()
        return Answer(response.status, _fields(response.read()))

    def _says_type(self) -> bool:
        return any(name.lower() == "content-type" for name, _ in self.headers)

    def _address(self, url: str) -> str:
        """Return `url` with the path and the query of the job's scope."""
        parts = urlsplit(url)
        scope = self.sent.path
        path = f"{parts.path.rstrip('/')}{scope}" if scope else parts.path
        query = "&".join(filter(None, [parts.query, self.sent.query]))
        return parts._replace(path=path or "/", query=query).geturl()


def split_url(url: str) -> SplitResult:
    """Return the parts of a service's URL.

    Raises:
        Mistake: it is none.
    """
    try:
        parts = urls.split(url)
        urls.host_of(parts)
        usable = parts.scheme in ("http", "https")
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.fragment or re.search(r"[^!-~]", url):
        shown = "this one" if "@" in url else ascii(url)
        raise Mistake(f"--url must be an http or https address without an account, not {shown}")
    return parts


def _fields(body: bytes) -> dict[str, object]:
    try:
        fields = json.loads(body, parse_constant=_no_json)
    # A service of ours never nests so deeply.
    except (ValueError, RecursionError):
        fields = None
    return fields if isinstance(fields, dict) else {}


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
