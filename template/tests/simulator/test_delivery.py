"""The simulator sends what Cloud Scheduler sends, and knows how a delivery ends."""

import json
import socket
import threading
from datetime import UTC, datetime

import pytest

from dev.delivery import SPELLINGS, Answer, NoAnswer, Spelling, Target, request_headers, send
from dev.delivery import request_path as path_of
from dev.events import parse_event
from tests.simulator.stub import StubHandler, stub_server

TIME = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)
TARGET = Target("http://127.0.0.1:8080/", "nightly-report")
TRACE = "0af7651916cd43dd8448eb211c80319c"


class TestHeaders:
    @pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.label)
    def test_of_every_spelling_mean_the_same_run(self, spelling: Spelling) -> None:
        """R02, R03."""
        headers = request_headers(TARGET, TIME, spelling, TRACE)
        named = {name.lower(): value for name, value in headers.items()}

        assert named["x-cloudscheduler-jobname"] == "nightly-report"
        written = named["x-cloudscheduler-scheduletime"].upper()
        assert datetime.fromisoformat(written) == TIME

    def test_are_all_written_differently(self) -> None:
        written = [request_headers(TARGET, TIME, spelling, TRACE) for spelling in SPELLINGS]

        assert len({json.dumps(headers) for headers in written}) == len(SPELLINGS)

    def test_look_like_those_of_cloud_scheduler(self) -> None:
        headers = request_headers(TARGET, TIME, SPELLINGS[0], TRACE)

        assert headers == {
            "User-Agent": "Google-Cloud-Scheduler",
            "X-CloudScheduler": "true",
            "X-CloudScheduler-JobName": "nightly-report",
            "X-CloudScheduler-ScheduleTime": "2026-10-16T05:00:00-07:00",
            "traceparent": f"00-{TRACE}-{TRACE[:16]}-01",
            "X-Cloud-Trace-Context": f"{TRACE}/{int(TRACE[:16], 16)};o=1",
        }

    def test_are_one_key_for_a_service_that_goes_by_keys(self) -> None:
        target = Target("http://h/", "nightly-report", key_header="X-Key")
        sent = [request_headers(target, TIME, spelling, TRACE) for spelling in SPELLINGS]
        named = {name: value for headers in sent for name, value in headers.items()}
        keys = {value.strip('"') for name, value in named.items() if name.lower() == "x-key"}
        assert not [name for name in named if "scheduler" in name.lower()]
        (key,) = keys
        event = parse_event(json.dumps({"event": "claimed", "job_name": key}), 0.0)
        assert event is not None
        assert (event.job, event.schedule_time) == ("nightly-report", TIME)

    def test_of_the_job_cannot_replace_those_of_cloud_scheduler(self) -> None:
        target = Target("http://h/", "j", headers=(("User-Agent", "me"), ("X-Mine", "1")))
        headers = request_headers(target, TIME, SPELLINGS[0], TRACE)

        assert headers["User-Agent"] == "Google-Cloud-Scheduler"
        assert headers["X-Mine"] == "1"

    def test_name_a_content_type_only_with_a_body(self) -> None:
        with_body = Target("http://h/", "j", body=b"")

        assert "Content-Type" not in request_headers(TARGET, TIME, SPELLINGS[0], TRACE)
        assert (
            request_headers(with_body, TIME, SPELLINGS[0], TRACE)["Content-Type"]
            == "application/octet-stream"
        )

    def test_or_query_or_path_carry_the_scope(self) -> None:
        """R05."""
        in_header = Target("http://h/", "j", job_scope="header", project="p", location="l")
        in_query = Target("http://h/?a=1", "j", job_scope="query", project="a:p", location="l")
        in_path = Target("http://h/base/", "j", job_scope="path", project="p", location="l")

        headers = request_headers(in_header, TIME, SPELLINGS[0], TRACE)
        assert (headers["X-Job-Project"], headers["X-Job-Location"]) == ("p", "l")
        assert path_of(in_query) == "/?a=1&project=a%3Ap&location=l"
        assert path_of(in_path) == "/base/projects/p/locations/l"


class TestSend:
    def test_returns_what_was_answered(self) -> None:
        with stub_server(lambda _: (409, "in_progress")) as url:
            assert send(Target(url, "j"), {}) == Answer(409, "in_progress")

    def test_gives_up_at_the_attempt_deadline(self) -> None:
        release = threading.Event()

        def late(_: StubHandler) -> tuple[int, str]:
            release.wait(10)
            return 200, "processed"

        with stub_server(late) as url:
            reply = send(Target(url, "j", deadline=0.1), {})
            release.set()

        assert reply == NoAnswer("deadline exceeded")

    def test_closes_the_connection_with_the_answer_unread(self) -> None:
        with stub_server(lambda _: (200, "processed")) as url:
            reply = send(Target(url, "j"), {}, lose_answer=lambda: True)

        assert reply == NoAnswer("answer lost")

    def test_tells_a_broken_connection_from_a_server_that_is_not_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            target = Target(f"http://127.0.0.1:{listener.getsockname()[1]}/", "j")
            thread = threading.Thread(target=lambda: listener.accept()[0].close())
            thread.start()
            broken = send(target, {})
            thread.join()

        assert broken == NoAnswer("connection broken")
        assert send(target, {}) == NoAnswer("not reachable")
