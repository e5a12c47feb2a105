"""Bodies and connections as HTTP/1.1 allows and forbids them."""

import hashlib

import pytest

from tests.support.servers.places import on_every_framework
from tests.support.servers.site import Scheduled, Site
from tests.support.servers.wire import Client, RawConnection, chunked, exchange, raw_request, send

LIMIT = 1024 * 1024
LARGEST = b"0123456789abcdef" * (LIMIT // 16)
CHUNKED = (b"Transfer-Encoding", b"chunked")
CHUNK = 64 * 1024

pytestmark = on_every_framework


def in_chunks(body: bytes) -> bytes:
    return chunked(*(body[start : start + CHUNK] for start in range(0, len(body), CHUNK)))


class TestABodyOfOneMebibyte:
    """The limit itself is allowed; it is Cloud Scheduler's own."""

    def test_reaches_the_job_with_its_length(self, site: Site, run: Scheduled) -> None:
        answer = send(site.server.port, "POST", "/", run.fields(), LARGEST)
        assert answer.outcome == (200, "processed")
        [start] = site.effects.starts(answer.run_id)
        assert start.seen["digest"] == hashlib.sha256(LARGEST).hexdigest()

    def test_reaches_the_job_in_chunks(self, site: Site, run: Scheduled) -> None:
        request = raw_request([*run.raw_fields(), CHUNKED], in_chunks(LARGEST))
        answer = exchange(site.server.port, request)
        assert answer.outcome == (200, "processed")
        [start] = site.effects.starts(answer.run_id)
        assert start.seen["digest"] == hashlib.sha256(LARGEST).hexdigest()

    @pytest.mark.usefixtures("untouched")
    def test_and_one_byte_in_chunks_is_too_large(self, site: Site, run: Scheduled) -> None:
        request = raw_request([*run.raw_fields(), CHUNKED], in_chunks(LARGEST + b"x"))
        assert exchange(site.server.port, request).outcome == (413, "rejected")


class TestAConnection:
    def test_serves_one_request_after_another(self, site: Site) -> None:
        """A refusal in between, its body unread or not, does not confuse the next request."""
        client = Client(site.server.port)
        try:
            outcomes = []
            for target, body in (("/", b"{}"), ("/nothing", LARGEST), ("/", b""), ("/health", b"")):
                run = Scheduled()
                outcomes.append(client.send("POST", target, run.fields(), body).status)
        finally:
            client.close()
        assert outcomes == [200, 404, 200, 405]

    def test_is_told_to_go_on_where_it_asks(self, site: Site, run: Scheduled) -> None:
        """`Expect: 100-continue`."""
        expect = [(b"Expect", b"100-continue"), (b"Content-Length", b"2")]
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request([*run.raw_fields(), *expect]))
            assert connection.read_line().startswith(b"HTTP/1.1 100 ")
            assert connection.read_line() == b"\r\n"
            connection.write(b"{}")
            assert connection.answer().outcome == (200, "processed")

    def test_can_bring_its_body_slowly(self, site: Site, run: Scheduled) -> None:
        """In chunks of one byte, each sent by itself."""
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request([*run.raw_fields(), CHUNKED]))
            for byte in b"slowly":
                connection.write(b"1\r\n%c\r\n" % byte)
            connection.write(b"0\r\n\r\n")
            answer = connection.answer()
        [start] = site.effects.starts(answer.run_id)
        assert start.seen["digest"] == hashlib.sha256(b"slowly").hexdigest()


@pytest.mark.usefixtures("untouched")
class TestARequestThatEndsTooSoon:
    """R04: a part of a request starts no run, and is no error of the service."""

    @pytest.mark.parametrize(
        ("fields", "body"),
        [
            pytest.param([(b"Content-Length", b"100")], b"half of it", id="in its body"),
            pytest.param([(b"Content-Length", b"100")], b"", id="before its body"),
            pytest.param([CHUNKED], b"a\r\nhalf", id="in a chunk"),
            pytest.param([CHUNKED], b"4\r\nhalf\r\n", id="between two chunks"),
            pytest.param([CHUNKED], b"", id="before its chunks"),
        ],
    )
    def test_is_dropped(
        self, site: Site, run: Scheduled, fields: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request([*run.raw_fields(), *fields], body))
            connection.finish_writing()
            answer = connection.read_all()
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")

    def test_is_dropped_in_its_headers(self, site: Site, run: Scheduled) -> None:
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request(run.raw_fields())[:-30])
            connection.finish_writing()
            answer = connection.read_all()
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.usefixtures("untouched")
class TestARequestThatIsNoHttp:
    """R04."""

    @pytest.mark.parametrize(
        ("fields", "body"),
        [
            pytest.param([CHUNKED], b"zz\r\nbody\r\n0\r\n\r\n", id="with a chunk of no size"),
            pytest.param([CHUNKED], b"-4\r\nbody\r\n0\r\n\r\n", id="with a negative chunk"),
            pytest.param([CHUNKED], b"2\r\nbody\r\n0\r\n\r\n", id="with a chunk too long"),
            pytest.param([(b"Content-Length", b"-1")], b"", id="with a negative length"),
            pytest.param([(b"Content-Length", b"a")], b"", id="with no length"),
            pytest.param(
                [(b"Content-Length", b"4"), (b"Content-Length", b"2")], b"body", id="of two lengths"
            ),
        ],
    )
    def test_is_refused(
        self, site: Site, run: Scheduled, fields: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request([*run.raw_fields(), *fields], body))
            connection.finish_writing()
            answer = connection.read_all()
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
