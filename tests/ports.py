"""Ports for the servers that the tests start."""

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """A TCP port that nobody listens on, and that no outgoing connection is given as its own.

    Systems take those from 32768 (Linux) or 49152 (macOS, Windows) upwards.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_768)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))
            return port
