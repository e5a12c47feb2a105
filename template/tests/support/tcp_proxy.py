"""A proxy between a client and a server of TCP, which does to the traffic what networks do."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto


class Trouble(Enum):
    """What happens to a request and its answer."""

    CUT_REQUEST = auto()
    """The connection breaks, and the server hears nothing."""
    TRUNCATED_REQUEST = auto()
    """It breaks half-way through the request."""
    CUT_ANSWER = auto()
    """It breaks when the server has done what it was asked."""
    TRUNCATED_ANSWER = auto()
    """It breaks half-way through the answer."""
    SWALLOWED_REQUEST = auto()
    """The request vanishes on a connection that seems to live."""
    SWALLOWED_ANSWER = auto()
    """The answer vanishes."""
    LATE_REQUEST = auto()
    """The server gets it, and acts on it, when the client has stopped waiting."""


@dataclass
class Proxy:
    """Forwards to a port of this machine. `plan` is what happens to the next requests, in turn.

    `late` is set when a late request may go on, and `arrived` when the server has answered it.
    """

    target: int
    plan: list[Trouble] = field(default_factory=list)
    late: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @contextmanager
    def running(self) -> Iterator[None]:
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield
        finally:
            self.late.set()
            for each in (self._listener, *self._open):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Hand on one request and one answer at a time, as the client's protocol has them."""
        place = ("127.0.0.1", self.target)
        with suppress(OSError), client, socket.create_connection(place) as server:
            self._open += [client, server]
            while request := client.recv(1 << 20):
                trouble = self.plan.pop(0) if self.plan else None
                if not self._handed_on(request, trouble, client, server):
                    return

    def _handed_on(
        self, request: bytes, trouble: Trouble | None, client: socket.socket, server: socket.socket
    ) -> bool:
        """Return whether the connection goes on."""
        match trouble:
            case Trouble.CUT_REQUEST:
                return False
            case Trouble.TRUNCATED_REQUEST:
                server.sendall(request[: len(request) // 2])
                return False
            case Trouble.SWALLOWED_REQUEST:
                return True
            case Trouble.LATE_REQUEST:
                self.late.wait()
        server.sendall(request)
        answer = server.recv(1 << 20)
        match trouble:
            case Trouble.CUT_ANSWER:
                return False
            case Trouble.TRUNCATED_ANSWER:
                client.sendall(answer[: len(answer) // 2])
                return False
            case Trouble.SWALLOWED_ANSWER:
                return True
            case Trouble.LATE_REQUEST:
                self.arrived.set()
        client.sendall(answer)
        return True
