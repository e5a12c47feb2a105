"""Requests that are made to confuse, to exhaust or to pass for others (R04, R33, R39)."""

from contextlib import ExitStack

import pytest

from tests.support.servers.places import on_every_framework
from tests.support.servers.site import Scheduled, Site, wish
from tests.support.servers.variants import TOKENS
from tests.support.servers.wire import RawConnection, chunked, raw_request, send

LIMIT = 1024 * 1024
CHUNKED = (b"Transfer-Encoding", b"chunked")
LENGTH = b"Content-Length"

SLOW_CLIENTS = 12
"""Fewer than the threads of every server under test, of which each may wait for one of them."""

pytestmark = on_every_framework


class TestSlowClients:
    """Others are served while they take their time, and so are they in the end."""

    @pytest.mark.parametrize("cut", [60, -3], ids=["in their headers", "in their bodies"])
    def test_leave_others_their_answers(self, site: Site, run: Scheduled, cut: int) -> None:
        slow = [Scheduled() for _ in range(SLOW_CLIENTS)]
        requests = [raw_request([*one.raw_fields(), (LENGTH, b"6")], b"slowly") for one in slow]
        with ExitStack() as stack:
            open_ones = [stack.enter_context(RawConnection(site.server.port)) for _ in slow]
            for connection, request in zip(open_ones, requests, strict=True):
                connection.write(request[:cut])
            assert site.deliver(run).outcome == (200, "processed")
            for connection, request in zip(open_ones, requests, strict=True):
                connection.write(request[cut:])
            assert [one.answer().outcome for one in open_ones] == [
                (200, "processed")
            ] * SLOW_CLIENTS


@pytest.mark.usefixtures("untouched")
class TestABodyWithoutEnd:
    @pytest.mark.parametrize(
        "fields",
        [[CHUNKED], [(LENGTH, str(1 << 40).encode())]],
        ids=["in chunks", "of a terabyte"],
    )
    def test_is_too_large_before_it_has_come(
        self, site: Site, run: Scheduled, fields: list[tuple[bytes, bytes]]
    ) -> None:
        """R04: nobody waits for the rest, and nobody keeps it."""
        # Some servers read by the kibibyte.
        body = b"x" * (LIMIT + 1024)
        sent = b"%x\r\n%s" % (1 << 40, body) if fields == [CHUNKED] else body
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request([*run.raw_fields(), *fields], sent))
            assert connection.answer().outcome == (413, "rejected")


@pytest.mark.usefixtures("untouched")
class TestAnEndlessHeader:
    @pytest.mark.parametrize("name", [b"X-CloudScheduler-JobName", b"Authorization", b"X-Other"])
    def test_is_refused(self, site: Site, run: Scheduled, name: bytes) -> None:
        fields = [field for field in run.raw_fields() if field[0] != name]
        request = raw_request([*fields, (name, b"a" * LIMIT)])
        with RawConnection(site.server.port) as connection:
            assert refused(connection, request)

    def test_is_refused_in_the_target(self, site: Site, run: Scheduled) -> None:
        request = raw_request(run.raw_fields(), target=b"/" + b"a" * LIMIT)
        with RawConnection(site.server.port) as connection:
            assert refused(connection, request)


def refused(connection: RawConnection, request: bytes) -> bool:
    """Send a request whole, if the server lets that happen, and tell whether it is refused."""
    try:
        connection.write(request)
    except (BrokenPipeError, ConnectionResetError):
        return True
    answer = connection.read_all()
    return answer == b"" or answer.split(b" ")[1] in (b"400", b"404", b"413", b"414", b"431")


class TestARequestInARequest:
    """Two readings of where a body ends would let one caller's request begin in another's."""

    @pytest.mark.parametrize(
        "fields",
        [
            pytest.param([(LENGTH, b"4"), CHUNKED], id="length, then chunks"),
            pytest.param([CHUNKED, (LENGTH, b"4")], id="chunks, then length"),
            pytest.param([(b"Transfer-Encoding", b"xchunked")], id="unknown coding"),
            pytest.param([(b"Transfer-Encoding", b"chunked, identity")], id="chunks not last"),
            pytest.param([CHUNKED, CHUNKED], id="chunks twice"),
            pytest.param([(b"Transfer-Encoding ", b"chunked")], id="space in the name"),
            pytest.param([(b"Transfer_Encoding", b"chunked"), (LENGTH, b"999")], id="underscore"),
            pytest.param([(LENGTH, b"+5")], id="length with a sign"),
            pytest.param([(LENGTH, b"5_0")], id="length of python"),
            pytest.param([(LENGTH, b"5, 6")], id="two lengths"),
            pytest.param([(b"X-Folded", b"a\r\n Content-Length: 5")], id="folded"),
            pytest.param([(b"X-Bare", b"a\rContent-Length: 5")], id="bare return"),
            pytest.param([(b"X-Null", b"a\0b")], id="null"),
        ],
    )
    def test_is_never_done(
        self, site: Site, run: Scheduled, fields: list[tuple[bytes, bytes]]
    ) -> None:
        inner = Scheduled()
        smuggled = raw_request([*inner.raw_fields(), (LENGTH, b"0")])
        # One who goes by chunks takes the rest for a request, one who goes by length does not.
        with RawConnection(site.server.port) as connection:
            request = raw_request([*run.raw_fields(), *fields], chunked() + smuggled)
            connection.write(request.replace(b"Connection: close\r\n", b"", 1))
            # The end of the connection, which may come at any time, would hide what is done.
            answers = connection.read_until_quiet(1.0)
        assert site.record(inner.run_id) is None, answers


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "text", [b"\x1b[2J", b"a\rb", b"\x00", b"\x9b31m", b"\n{}"], ids=lambda text: text.hex()
)
def test_control_characters_reach_no_log_of_the_server(site: Site, text: bytes) -> None:
    """R39: a person reads it in a terminal, and lines that look like JSON are taken for ours."""
    before = len(site.server.log())
    hostile = {
        "value": raw_request([(b"X-CloudScheduler-JobName", b"a" + text + b"b")]),
        "name": raw_request([(b"X-" + text, b"a")]),
        "target": raw_request([], target=b"/" + text),
        "method": raw_request([], method=b"PO" + text),
        "length": raw_request([(LENGTH, b"1" + text)]),
    }
    for request in hostile.values():
        with RawConnection(site.server.port) as connection:
            connection.write(request)
            connection.finish_writing()
            connection.read_all()
    added = site.server.log()[before:]
    assert [line for line in added.split("\n") if not line.isprintable()] == []
    assert "{}" not in added.split("\n")


@pytest.mark.usefixtures("untouched")
def test_a_token_that_is_sent_twice_is_refused(site: Site, run: Scheduled) -> None:
    """R33: whichever of them a platform has looked at."""
    for other in ("Bearer good", "Bearer bad"):
        tokens = [("Authorization", "Bearer good"), ("Authorization", other)]
        fields = [*run.fields(), *wish({"auth": TOKENS}), *tokens]
        assert send(site.server.port, "POST", "/", fields).outcome == (401, "rejected")
