"""Log lines: Cloud Logging's form, the run that they belong to, and nothing secret (R39)."""

import contextvars
import io
import logging
from datetime import datetime, timedelta
from typing import Any

import pytest

from app import logs
from app.auth import CREDENTIALS, SUPPORTED, open_authenticator
from app.dedup import Attempt
from app.dedup.delivery import JobScope
from app.dedup.store import Query
from tests.support.clock import NOON
from tests.support.logs import Output, captured, own_root_logger
from tests.support.service import RUN_ID, SCHEDULED, LocalService, idle, never
from tests.support.settings import ACCOUNT, AUDIENCE
from tests.support.stores.sqlite import SqliteHarness

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
LINK = {"logging.googleapis.com/trace": f"projects/my-project/traces/{TRACE}"}
OF_THE_RUN = {
    "job_name": "nightly",
    "schedule_time": "2026-10-16T12:00:00Z",
    "run_id": RUN_ID,
}
_log = logging.getLogger("app.job")


@pytest.fixture
def harness(sqlite_harness: SqliteHarness) -> SqliteHarness:
    return sqlite_harness


class TestLine:
    @pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
    def test_has_cloud_loggings_names(self, level: str) -> None:
        """R39: the levels are severities of Cloud Logging, too."""
        with captured() as output:
            _log.log(logging.getLevelNamesMapping()[level], "Rows: %d.", 3, extra={"event": "e"})
        (line,) = output.entries
        written = datetime.fromisoformat(line.pop("time"))
        assert written.utcoffset() == timedelta(0)
        assert line == {
            "severity": level,
            "message": "Rows: 3.",
            "logger": "app.job",
            "event": "e",
        }

    def test_has_the_trace_of_an_exception(self) -> None:
        """R39: in the field that Error Reporting reads, not in the message."""
        with captured() as output:
            try:
                raise ValueError("no rows\nat all")
            except ValueError:
                _log.exception("It failed.")
        (line,) = output.entries
        assert line["message"] == "It failed."
        assert line["stack_trace"].startswith("Traceback (most recent call last):")
        assert line["stack_trace"].endswith("ValueError: no rows\nat all")

    def test_is_not_written_below_the_level(self) -> None:
        """R39."""
        with captured("WARNING") as output:
            _log.info("Not this one.")
            _log.warning("This one.")
        assert [line["message"] for line in output.entries] == ["This one."]

    @pytest.mark.parametrize(
        "text",
        ['a\n{"severity": "ALERT"}', "a\r\nb", "\x00\x07\x1b[31m", "\u2028\u2029\x85", "\ud800"],
    )
    def test_is_one_line_of_ascii_whatever_is_in_it(self, text: str) -> None:
        """R39: nobody can write lines of his own."""
        with captured() as output:
            _log.info("Got %s.", text, extra={"value": text})
        assert output.getvalue().isascii()
        assert output.getvalue().removesuffix("\n").isprintable()
        assert output.entries[0]["message"] == f"Got {text}."
        assert output.entries[0]["value"] == text

    @pytest.mark.parametrize(
        "value", [object(), {1, 2}, b"x", NOON, float("nan"), {("a", "b"): 1}, ValueError("x")]
    )
    def test_is_written_whatever_a_field_is(self, value: object) -> None:
        """R39: the owner's own fields may be anything, and a broken line is a lost one."""
        with captured() as output:
            _log.info("Done.", extra={"value": value})
        assert output.entry(message="Done.").keys() >= {"severity", "time", "value"}


class TestTerminal:
    def test_gets_readable_text(self) -> None:
        """R39, R41: with the fields that a person follows, and without the long ones."""
        with captured(terminal=True) as output, logs.fields(run_id=RUN_ID, job_name="nightly"):
            _log.info("The run is claimed.", extra={"event": "claimed", "recovered": False})
        (line,) = output.getvalue().splitlines()
        assert "INFO" in line
        assert "The run is claimed. event=claimed job_name=nightly recovered=False" in line
        assert RUN_ID not in line

    def test_gets_the_trace_of_an_exception_below_its_line(self) -> None:
        """R41."""
        with captured(terminal=True) as output:
            try:
                raise ValueError("no rows")
            except ValueError:
                _log.exception("It failed.", extra={"event": "failed"})
        first, *trace = output.getvalue().splitlines()
        assert first.endswith("It failed. event=failed")
        assert trace[-1] == "ValueError: no rows"


class TestTrace:
    @pytest.mark.parametrize(
        "headers",
        [
            {"traceparent": (TRACEPARENT,)},
            {"traceparent": (f"cc-{TRACE}-00f067aa0ba902b7-01-what-comes-later",)},
            {"x-cloud-trace-context": (TRACE,)},
            {"x-cloud-trace-context": (f"{TRACE}/123;o=1",)},
            {"x-cloud-trace-context": (f"{TRACE};o=0",)},
            {"traceparent": ("nonsense",), "x-cloud-trace-context": (f"{TRACE}/1",)},
            {"traceparent": (TRACEPARENT,), "x-cloud-trace-context": ("0" * 31 + "1",)},
        ],
    )
    def test_comes_from_either_header(self, headers: dict[str, tuple[str, ...]]) -> None:
        """R39: the standard's header before Google's own."""
        assert logs.trace_of(headers, "my-project") == LINK

    @pytest.mark.parametrize("name", ["traceparent", "x-cloud-trace-context"])
    @pytest.mark.parametrize(
        "value",
        [
            "",
            TRACE[:-1],
            f"{TRACE}0/1",
            f"{TRACE}\n",
            f"{TRACE}\nx/1",
            f"00-{TRACE}-00f067aa0ba902b7",
            f"00-{TRACE[:-1]}-00f067aa0ba902b7-01",
            f"00-{TRACE}-00f067aa0ba902b7-01\n",
            f"00-{TRACE}-00f067aa0ba902b7-01\n-x",
            f"00-{'0' * 32}-00f067aa0ba902b7-01",
            f"ff-{TRACE}-00f067aa0ba902b7-01",
            f"00-{TRACE.upper()}-00f067aa0ba902b7-01",
            f"{'0' * 32}/1",
            "00-" + "\u0661" * 32 + "-00f067aa0ba902b7-01",
        ],
    )
    def test_of_a_malformed_header_is_ignored(self, name: str, value: str) -> None:
        """R39: W3C Trace Context tells to ignore all-zero ids and the version ff."""
        assert logs.trace_of({name: (value,)}, "my-project") == {}

    def test_is_in_every_line_of_a_request(self, harness: SqliteHarness) -> None:
        """R39."""
        with captured() as output:
            LocalService(harness).handle(headers={**SCHEDULED, "traceparent": (TRACEPARENT,)})
            LocalService(harness).handle("GET", headers={"traceparent": (TRACEPARENT,)})
        assert len(output.entries) > 3
        assert all(LINK.items() <= line.items() for line in output.entries)


class TestFieldsOfARun:
    def test_are_in_the_jobs_own_lines(self, harness: SqliteHarness) -> None:
        """R39: and in those of the libraries that it calls."""
        seen: list[Attempt] = []

        def job(attempt: Attempt) -> None:
            seen.append(attempt)
            logging.getLogger("some.library").warning("From the job.")

        with captured() as output:
            LocalService(harness, job).handle()
        line = output.entry(message="From the job.")
        assert line.items() >= {**OF_THE_RUN, "attempt_id": seen[0].attempt_id}.items()

    def test_are_in_the_lines_of_an_async_job(self, harness: SqliteHarness) -> None:
        """R39."""

        async def job(attempt: Attempt) -> None:
            _log.info("From the job.")

        with captured() as output:
            LocalService(harness, job).handle()
        assert output.entry(message="From the job.").items() >= OF_THE_RUN.items()

    def test_are_in_the_lines_of_the_lease_thread(self, harness: SqliteHarness) -> None:
        """R18, R39."""

        def job(attempt: Attempt) -> None:
            harness.pass_time(1.0)
            assert attempt.lost.wait(5.0)

        with captured() as output:
            LocalService(harness, job, lease=0.1).handle()
        line = output.entry(message="The lease could not be confirmed in time.")
        assert line.items() >= OF_THE_RUN.items()

    def test_of_the_line_itself_win(self) -> None:
        """R39."""
        with captured() as output, logs.fields(event="around", job_name="nightly"):
            _log.info("x", extra={"event": "own"})
        assert output.entry(event="own")["job_name"] == "nightly"

    def test_end_with_the_request(self, harness: SqliteHarness) -> None:
        """R39: the server's threads are used again."""
        with captured() as output:
            LocalService(harness).handle(headers={**SCHEDULED, "traceparent": (TRACEPARENT,)})
            done = len(output.entries)
            _log.info("Between two requests.")
            LocalService(harness).handle(headers={})
        between, refused = output.entries[done:]
        assert refused["event"] == "rejected"
        for line in (between, refused):
            assert not line.keys() & {*OF_THE_RUN, *LINK, "attempt_id"}

    def test_end_with_a_request_that_fails(self, harness: SqliteHarness) -> None:
        """R39."""

        def job(attempt: Attempt) -> None:
            raise SystemExit(1)

        before = contextvars.copy_context()
        with captured():
            LocalService(harness, job).handle()
        assert dict(contextvars.copy_context()) == dict(before)


class TestSecrets:
    BODY, TOKEN, COOKIE = "hidden-in-the-body", "hidden-in-the-token", "hidden-in-the-cookie"

    def handle(self, service: LocalService) -> None:
        headers = {
            **SCHEDULED,
            "authorization": (f"Bearer {self.TOKEN}",),
            "x-serverless-authorization": (f"Bearer {self.TOKEN}",),
            "cookie": (f"session={self.COOKIE}",),
        }
        service.handle(headers=headers, body=self.BODY.encode())
        service.handle(headers=headers, body=self.BODY.encode() * 100_000)
        service.handle(headers={**headers, "x-cloudscheduler-jobname": ("a/b",)})

    @pytest.mark.parametrize("mode", SUPPORTED)
    def test_of_a_request_are_in_no_line(self, harness: SqliteHarness, mode: str) -> None:
        """R39: no request body, no token; accepted, refused and too large."""
        caller = open_authenticator(mode, audience=AUDIENCE, service_account=ACCOUNT)
        with captured() as output:
            self.handle(LocalService(harness, idle, caller=caller))
        assert output.entries
        assert "hidden" not in output.getvalue()

    def test_are_in_no_line_about_the_attempt(self, harness: SqliteHarness) -> None:
        """R39: an owner logs the attempt, and the job fails."""

        def job(attempt: Attempt) -> None:
            assert self.BODY.encode() in attempt.body
            _log.info("This is %r.", attempt)
            raise ValueError("failed")

        with captured() as output:
            self.handle(LocalService(harness, job))
        assert "This is Attempt(" in output.getvalue()
        assert "hidden" not in output.getvalue()


FORGED = '{"severity": "CRITICAL", "event": "completed"}'
HOSTILE = {
    "new line": f"2026-10-16T12:00:00Z\n{FORGED}\r\n",
    "end of the string": f'", "event": "completed", "x": {FORGED}, "y": "',
    "terminal": "\x1b[2J\x1b]0;owned\x07\x9b31m\x00\x7f",
    "other line ends": f"\x0b\x0c\x1c\x85\u2028{FORGED}",
    "no character": "\ud800\udcff",
    "long": "a/" * 50_000,
}
LONGEST_LINE = 2_000


class TestHostileText:
    """R39: it is shortened and escaped inside the line about its refusal, or not shown at all."""

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    @pytest.mark.parametrize("terminal", [False, True], ids=["json", "terminal"])
    @pytest.mark.parametrize("header", [*SCHEDULED, "x-job-project", "x-job-location"])
    def test_in_a_header_of_the_run_writes_no_line_and_no_record(
        self, harness: SqliteHarness, header: str, terminal: bool, text: str
    ) -> None:
        scope = {"x-job-project": ("my-project",), "x-job-location": ("us-central1",)}
        headers = {**SCHEDULED, **scope, header: (text,)}
        with captured(terminal=terminal) as output:
            answer = LocalService(harness, never, job_scope=JobScope.HEADER).handle(headers=headers)
        assert answer.outcome == (400, "rejected")
        assert is_one_plain_line(output.getvalue())
        assert "completed" not in [entry["event"] for entry in entries_of(output, terminal)]
        assert [*harness.open().list(Query(), timeout=1.0)] == []

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    @pytest.mark.parametrize("header", ["traceparent", "x-cloud-trace-context", "user-agent"])
    def test_in_another_header_changes_no_line(
        self, harness: SqliteHarness, header: str, text: str
    ) -> None:
        with captured() as output:
            answer = LocalService(harness).handle(headers={**SCHEDULED, header: (text,)})
        assert answer.outcome == (200, "processed")
        assert all(is_one_plain_line(line) for line in output.getvalue().splitlines())
        assert logs.TRACE not in {name for entry in output.entries for name in entry}

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    @pytest.mark.parametrize("mode", SUPPORTED)
    @pytest.mark.parametrize("header", CREDENTIALS)
    def test_in_a_token_writes_no_line_of_its_own(
        self, harness: SqliteHarness, mode: str, header: str, text: str
    ) -> None:
        caller = open_authenticator(mode, audience=AUDIENCE, service_account=ACCOUNT)
        with captured() as output:
            service = LocalService(harness, caller=caller)
            service.handle(headers={**SCHEDULED, header: (f"Bearer {text}",)})
        assert all(is_one_plain_line(line) for line in output.getvalue().splitlines())

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    @pytest.mark.parametrize("scope", JobScope)
    def test_in_the_address_or_the_method_writes_no_line_of_its_own(
        self, harness: SqliteHarness, scope: JobScope, text: str
    ) -> None:
        asked: list[dict[str, Any]] = [
            {"method": text},
            {"path": f"/{text}"},
            {"path": "/health", "method": text},
            {"path": f"/projects/{text}/locations/us-central1"},
            {"query": {"project": (text,), "location": ("us-central1",)}},
        ]
        service = LocalService(harness, job_scope=scope)
        for request in asked:
            with captured() as output:
                service.handle(**request)
            assert all(is_one_plain_line(line) for line in output.getvalue().splitlines())


def is_one_plain_line(text: str) -> bool:
    return text.removesuffix("\n").isprintable() and text.isascii() and len(text) < LONGEST_LINE


def entries_of(output: Output, terminal: bool) -> list[dict[str, Any]]:
    return [] if terminal else output.entries


class TestLog:
    """What is logged never decides what happens."""

    @pytest.fixture
    def log(self, caplog: pytest.LogCaptureFixture) -> logs.Log:
        return logs.Log("app.hostile")

    def test_outlives_an_error_that_raises_when_it_is_asked(self, log: logs.Log) -> None:
        class Hostile(Exception):
            def __bool__(self) -> bool:
                raise RuntimeError("never ask")

            def __str__(self) -> str:
                raise RuntimeError("never show")

        log.error("It failed.", error=Hostile())

    def test_outlives_a_filter_that_raises(self, log: logs.Log) -> None:
        def hostile(record: logging.LogRecord) -> bool:
            raise RuntimeError("no lines today")

        logger = logging.getLogger("app.hostile")
        logger.addFilter(hostile)
        try:
            log.info("It happened.")
        finally:
            logger.removeFilter(hostile)

    def test_outlives_a_closed_stream(self, log: logs.Log) -> None:
        with own_root_logger():
            stream = io.StringIO()
            logs.configure("INFO", stream)
            stream.close()
            log.info("It happened.")
