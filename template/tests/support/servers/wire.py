"""HTTP/1.1 as tests need it: plain requests, and bytes that no client library would send."""

import json
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage, HTTPResponse
from typing import Any, Final

from tests.support.servers.gates import PATIENCE

_HOST: Final = "127.0.0.1"

Fields = Iterable[tuple[str, str]]
"""Header fields; a name can come more than once."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answered. `body` is the JSON object, empty if there is none."""

    status: int
    headers: HTTPMessage
    body: dict[str, Any]

    @property
    def outcome(self) -> tuple[int, str]:
        """The status and the outcome that the body names."""
        return self.status, self.body.get("outcome", "")

    @property
    def run_id(self) -> str:
        """The run's key."""
        return str(self.body["run_id"])

    @property
    def reason(self) -> str:
        """Why a request was refused."""
        return str(self.body["reason"])

    @property
    def retry_after(self) -> int:
        """Seconds of the `Retry-After` header."""
        return int(self.headers["Retry-After"])


class Client:
    """One connection to a server, kept alive as long as the server likes."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection(_HOST, port, timeout=PATIENCE)

    def send(self, method: str, target: str, fields: Fields = (), body: bytes = b"") -> Answer:
        """Send a request and read the answer."""
        self._connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in (*fields, ("Content-Length", str(len(body)))):
            self._connection.putheader(name, value)
        self._connection.endheaders(body)
        return _read(self._connection.getresponse())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def send(port: int, method: str, target: str, fields: Fields = (), body: bytes = b"") -> Answer:
    """Send a request on a connection of its own and read the answer."""
    client = Client(port)
    try:
        return client.send(method, target, fields, body)
    finally:
        client.close()


class RawConnection:
    """A connection on which a test writes whatever it likes."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection((_HOST, port), timeout=PATIENCE)

    def __enter__(self) -> "RawConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._socket.sendall(data)

    def read_line(self) -> bytes:
        """Read up to the next line's end, or what there is before the connection's."""
        line = b""
        while not line.endswith(b"\n") and (byte := self._socket.recv(1)):
            line += byte
        return line

    def finish_writing(self) -> None:
        """Close this side of the connection, as a client that goes away half-way."""
        # A server that has refused what it read may have closed the whole connection before.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def read_until_quiet(self, seconds: float) -> bytes:
        """Read until nothing comes for so long, or the server closes the connection."""
        data = b""
        self._socket.settimeout(seconds)
        try:
            while chunk := self._socket.recv(65536):
                data += chunk
        except (ConnectionResetError, TimeoutError):
            pass
        finally:
            self._socket.settimeout(PATIENCE)
        return data

    def read_all(self) -> bytes:
        """Read until the server closes the connection."""
        data = b""
        try:
            while chunk := self._socket.recv(65536):
                data += chunk
        except ConnectionResetError:
            pass
        return data

    def answer(self, method: str = "POST") -> Answer:
        """Read the answer to a request of that method."""
        response = HTTPResponse(self._socket, method=method)
        try:
            response.begin()
            return _read(response)
        finally:
            response.close()


def exchange(port: int, request: bytes, method: str = "POST") -> Answer:
    """Send bytes on a connection of their own and read the answer."""
    with RawConnection(port) as connection:
        connection.write(request)
        return connection.answer(method)


def chunked(*chunks: bytes) -> bytes:
    """Return a whole body in chunks."""
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def raw_request(
    fields: Iterable[tuple[bytes, bytes]],
    body: bytes = b"",
    target: bytes = b"/",
    method: bytes = b"POST",
) -> bytes:
    """Return a request with exactly these fields, besides `Host` and `Connection: close`."""
    lines = [b"%s %s HTTP/1.1" % (method, target), b"Host: localhost", b"Connection: close"]
    lines += [b"%s: %s" % field for field in fields]
    return b"\r\n".join([*lines, b"", body])


def _read(response: HTTPResponse) -> Answer:
    data = response.read()
    assert response.status not in (429, 503), "a platform takes it for its own and retries (R12)"
    is_json = response.headers.get_content_type() == "application/json"
    return Answer(response.status, response.headers, json.loads(data) if is_json and data else {})
