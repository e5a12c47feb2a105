"""One HTTP request, sent once: nothing here tries again, because nobody could tell a repetition."""

import time
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

import requests

from app.dedup import GiveUp, OutcomeUnknown
from app.dedup.delivery import shown

BODY_LIMIT: Final = 4 * 1024 * 1024
"""So many bytes of an answer are read at most; what comes after them is left."""

_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status and the body."""

    status: int
    body: bytes


def send(request: requests.Request, *, within: float, through_proxies: bool) -> Answer:
    """Send a request and return the answer, whatever it says.

    The time limit of `within` seconds is for all of it. requests itself limits each wait for the
    server only, so what drips would hold the attempt beyond its lease.

    Raises:
        GiveUp: nothing was sent, because the request cannot be.
        OutcomeUnknown: no answer came, so it may have taken effect or not.
    """
    call = _Call(request, within, through_proxies)
    answers = SimpleQueue[Answer | Exception]()
    # A thread of its own: it ends soon after its time, but this attempt does not wait for it.
    Thread(target=lambda: answers.put(call.result()), name="call", daemon=True).start()
    name = f"{request.method} {urlsplit(str(request.url)).path}"
    try:
        answer = answers.get(timeout=within)
    except Empty:
        raise OutcomeUnknown(f"{name}: no whole answer within {within:.0f} s") from None
    if isinstance(answer, Answer):
        return answer
    # Not from the error, which can have secrets of the URL in its text.
    raise OutcomeUnknown(f"{name}: no answer: {_cause(answer)}") from None


class _Call:
    """A request that is ready to be sent."""

    def __init__(self, request: requests.Request, within: float, through_proxies: bool) -> None:
        self._within = within
        self._session = requests.Session()
        self._session.trust_env = through_proxies
        try:
            self._prepared = self._session.prepare_request(request)
        except ValueError as error:
            raise GiveUp(f"the request cannot be sent: {shown(str(error))}") from None

    def result(self) -> Answer | Exception:
        """Send it; an exception is returned, whatever it is: something may have been sent."""
        try:
            with self._session:
                return self._send()
        except Exception as error:
            return error

    def _send(self) -> Answer:
        end = time.monotonic() + self._within
        url = self._prepared.url or ""
        settings = self._session.merge_environment_settings(url, {}, True, None, None)
        # The adapter itself: a session would look at where a redirect leads.
        adapter = self._session.get_adapter(url)
        with adapter.send(self._prepared, timeout=self._within, **settings) as answer:
            body = b""
            for chunk in answer.iter_content(_CHUNK):
                body += chunk
                if time.monotonic() > end:
                    raise TimeoutError("the answer has no end")
                if len(body) >= BODY_LIMIT:
                    break
            return Answer(answer.status_code, body[:BODY_LIMIT])


def _cause(error: BaseException) -> str:
    """Return what has gone wrong at the bottom of it, in words without a URL."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return str(error) if isinstance(error, OSError) and str(error) else type(error).__name__
