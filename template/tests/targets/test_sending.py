"""A request is sent once and within its time, whatever the other side does."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import requests

from app.calls.sending import BODY_LIMIT, Answer, send
from app.dedup import GiveUp, OutcomeUnknown

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SOON = 0.5

Behaviour = Callable[[socket.socket], object]


class Hostile:
    """A server that does one thing with each connection, and counts them."""

    def __init__(self, behave: Behaviour) -> None:
        self._behave = behave
        self.count = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            try:
                self._behave(connection)
            except OSError:
                return

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def hostile() -> Iterator[Callable[[Behaviour], Hostile]]:
    """Start servers that misbehave."""
    started: list[Hostile] = []

    def start(behave: Behaviour) -> Hostile:
        started.append(Hostile(behave))
        return started[-1]

    yield start
    for server in started:
        server.close()


def post(url: str, *, within: float = SOON, headers: dict[str, str] | None = None) -> Answer:
    request = requests.Request("POST", url, headers=headers, data=b"{}")
    return send(request, within=within, through_proxies=False)


def saying(content: bytes) -> Behaviour:
    return lambda connection: connection.sendall(content)


def repeating(first: bytes, again: bytes) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        connection.sendall(first)
        while True:
            time.sleep(0.05)
            connection.sendall(again)

    return behave


@pytest.mark.parametrize(
    "behave",
    [
        repeating(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
        repeating(OK, b"X-More: x\r\n"),
        repeating(CHUNKED, b"1\r\nx\r\n"),
        repeating(b"", b"H"),
        lambda connection: time.sleep(2 * SOON),
    ],
    ids=["continue", "headers", "chunks", "status", "silence"],
)
def test_what_has_no_end_is_given_up_in_time(
    hostile: Callable[[Behaviour], Hostile], behave: Behaviour
) -> None:
    """R22: an attempt must not outlive its lease."""
    server = hostile(behave)
    began = time.monotonic()
    with pytest.raises(OutcomeUnknown):
        post(server.url)
    assert time.monotonic() - began < 4 * SOON
    assert server.count == 1


@pytest.mark.parametrize(
    "content",
    [
        CHUNKED + b"-5\r\nx\r\n",
        OK + b"Content-Length: 9\r\n\r\nx",
        OK + b"Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + 20 * b"x",
        b"not HTTP at all\r\n\r\n",
        b"",
    ],
    ids=["chunk-size", "cut-off", "gzip", "no-http", "nothing"],
)
def test_an_answer_that_cannot_be_read_leaves_the_outcome_unknown(
    hostile: Callable[[Behaviour], Hostile], content: bytes
) -> None:
    """R22: something may have been started."""
    server = hostile(saying(content))
    with pytest.raises(OutcomeUnknown, match="no answer"):
        post(server.url)
    assert server.count == 1


@pytest.mark.parametrize("place", [b"http://[x", b"/else", b"\xff\xfe"])
def test_a_redirect_is_an_answer_and_nothing_is_followed(
    hostile: Callable[[Behaviour], Hostile], place: bytes
) -> None:
    head = b"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: "
    server = hostile(saying(head + place + b"\r\n\r\n"))
    assert post(server.url) == Answer(307, b"")
    assert server.count == 1


def test_no_more_of_an_answer_is_read_than_its_limit(
    hostile: Callable[[Behaviour], Hostile],
) -> None:
    """Packed, it is small: what counts is what it takes in memory."""
    packed = gzip.compress(b"x" * (4 * BODY_LIMIT))
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    answer = post(hostile(saying(head + packed)).url, within=10.0)
    assert (answer.status, len(answer.body)) == (200, BODY_LIMIT)


def test_the_reason_has_no_query_in_it() -> None:
    """R39: it may be a secret."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(OutcomeUnknown, match=r"POST /path: no answer: .*refused") as caught:
        post(f"http://127.0.0.1:{port}/path?key=SECRET")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("headers", [{"Content-Type": "\xa0text"}, {"X": "a\nb"}])
def test_a_request_that_cannot_be_sent_is_given_up(headers: dict[str, str]) -> None:
    """R23: no retry makes it better, and nothing was sent."""
    with pytest.raises(GiveUp, match="cannot be sent"):
        post("http://127.0.0.1:1/", headers=headers)
