"""The simulator sends what Cloud Scheduler sends, and tells right runs from wrong ones."""

import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest

from app import defaults
from app.backoff import RetryConfig
from app.kinds import settle_time
from app.retry_budget import Times, retry_config
from dev.delivery import SPELLINGS, Answer, NoAnswer, Spelling, Target, request_headers, send
from dev.delivery import request_path as path_of
from dev.events import Event, EventLog, parse_event
from dev.hold import StoreHold
from dev.options import parse
from dev.plan import Fault, Scenario
from dev.scheduler import main, planned_runs
from dev.serve import checked_port, local_environment, web_command
from dev.verdict import events_of_run, judge_answers, judge_events

TIME = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)
DEADLINE = {"ATTEMPT_DEADLINE_SECONDS": "180"}
QUARTERS = ["--schedule", "*/15 * * * *", "--time-zone", "Etc/UTC"]
TARGET = Target("http://127.0.0.1:8080/", "nightly-report")
TRACE = "0af7651916cd43dd8448eb211c80319c"

Reply = Callable[["StubHandler"], tuple[int, str]]


@pytest.fixture(autouse=True)
def goes_by_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a service that goes by Cloud Scheduler's headers, whatever this project is."""
    monkeypatch.setattr("dev.options.trait", lambda name: "")


class StubHandler(BaseHTTPRequestHandler):
    """Answers each POST with what the test's function says."""

    reply: ClassVar[Reply]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status, outcome = type(self).reply(self)
        body = json.dumps({"outcome": outcome}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output quiet."""


class StubServer(ThreadingHTTPServer):
    """Takes connections that break for granted."""

    def handle_error(self, *_: object) -> None:
        """Keep the tests' output quiet."""


@contextmanager
def stub_server(reply: Reply) -> Iterator[str]:
    handler = type("Handler", (StubHandler,), {"reply": staticmethod(reply)})
    server = StubServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class OnceServer:
    """A right server: the first delivery of a run is processed, all others are duplicates."""

    def __init__(self) -> None:
        self.runs: set[tuple[str, datetime, bool]] = set()
        self.lock = threading.Lock()

    def __call__(self, request: StubHandler) -> tuple[int, str]:
        written = request.headers["X-CloudScheduler-ScheduleTime"].upper()
        time = datetime.fromisoformat(written).astimezone(UTC)
        forced = (time - datetime.now(UTC)).total_seconds() > 10
        run = (request.headers["X-CloudScheduler-JobName"], time, forced)
        with self.lock:
            known = run in self.runs
            self.runs.add(run)
        return 200, "duplicate" if known else "processed"


def simulate(url: str, *options: str) -> int:
    return main(["--url", url, "--min-backoff", "0.01", *options])


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


def event(name: str, run_id: str = "r", attempt_id: str = "a", **fields: bool) -> Event:
    return Event(name, 0.0, run_id, attempt_id, "nightly-report", TIME, **fields)


class TestVerdictByEvents:
    def test_one_start_and_one_completion_is_right(self) -> None:
        assert judge_events([event("claimed"), event("completed")]).right

    def test_done_twice_is_wrong(self) -> None:
        done = [event("claimed"), event("completed")]

        assert judge_events([*done, *done]).problem == "done 2 times"

    def test_never_done_is_wrong(self) -> None:
        assert judge_events([]).problem == "never done"
        assert judge_events([event("claimed")]).problem == "never done"

    def test_given_up_is_wrong(self) -> None:
        assert judge_events([event("claimed"), event("gave_up")]).problem == "given up"

    def test_a_start_after_a_release_is_right(self) -> None:
        """R21."""
        names = ["claimed", "failed", "released", "claimed", "completed"]

        assert judge_events([event(name) for name in names]).right

    def test_a_start_that_takes_over_is_right(self) -> None:
        """R13, R28."""
        verdict = judge_events(
            [event("claimed"), event("claimed", recovered=True), event("completed")]
        )

        assert (verdict.right, verdict.starts, verdict.recovered) == (True, 2, 1)

    def test_a_start_beside_a_live_attempt_is_wrong(self) -> None:
        verdict = judge_events([event("claimed"), event("claimed"), event("completed")])

        assert verdict.problem == "started while at work"

    def test_a_run_under_two_keys_is_seen(self) -> None:
        """R03."""
        events = [event(name, run_id) for run_id in ("r", "s") for name in ("claimed", "completed")]
        of_run = events_of_run(events, "nightly-report", TIME, forced=False)

        assert judge_events(of_run).problem == "done 2 times"

    def test_a_forced_run_is_told_from_the_scheduled_one(self) -> None:
        """R06."""
        events = [
            event("claimed", "f", forced=True),
            event("completed", "f"),
            event("claimed", "r", forced=False),
            event("completed", "r"),
        ]

        for forced in (True, False):
            of_run = events_of_run(events, "nightly-report", TIME, forced=forced)
            assert judge_events(of_run).right


class TestVerdictByAnswers:
    def test_one_processed_among_duplicates_is_right(self) -> None:
        answers = [Answer(409, "in_progress"), Answer(200, "processed"), Answer(200, "duplicate")]

        assert judge_answers(answers).right

    def test_two_processed_are_wrong(self) -> None:
        assert judge_answers([Answer(200, "processed")] * 2).problem == "done 2 times"

    def test_only_failures_are_wrong(self) -> None:
        assert judge_answers([Answer(500, "failed")]).problem == "never done"

    def test_a_duplicate_explains_an_attempt_without_an_answer(self) -> None:
        assert judge_answers([NoAnswer("deadline exceeded"), Answer(200, "duplicate")]).right
        assert not judge_answers([Answer(200, "duplicate")]).right


class TestEvents:
    def test_are_read_from_json_lines_alone(self) -> None:
        log = EventLog()
        line = {"event": "claimed", "run_id": "r", "schedule_time": "2026-10-16T05:00:00-07:00"}
        log.read(["Listening on 8080\n", '{"message": "ready"}\n', "[1]\n", json.dumps(line)])

        assert [(each.name, each.schedule_time) for each in log.events] == [("claimed", TIME)]
        assert len(log.other_lines) == 3

    def test_with_odd_fields_do_no_harm(self) -> None:
        line = {"event": "claimed", "run_id": None, "schedule_time": 7, "forced": "yes"}
        read = parse_event(json.dumps(line), 0.0)

        assert read == Event("claimed", 0.0)

    def test_are_waited_for_from_a_mark_on(self) -> None:
        log = EventLog()
        log.read(['{"event": "claimed"}'])

        assert log.wait_for(lambda event: event.name == "claimed", 0, 0)
        assert not log.wait_for(lambda event: event.name == "claimed", log.mark(), 0)


class TestRunningServer:
    def test_that_does_each_run_once_passes(self) -> None:
        with stub_server(OnceServer()) as url:
            assert simulate(url, "--duplicates", "4", "--runs", "3") == 0

    def test_that_repeats_runs_fails(self) -> None:
        with stub_server(lambda _: (200, "processed")) as url:
            assert simulate(url, "--scenario", "duplicates") == 1

    def test_that_never_succeeds_fails_after_all_retries(self) -> None:
        attempts = count()

        def failing(_: StubHandler) -> tuple[int, str]:
            next(attempts)
            return 500, "failed"

        with stub_server(failing) as url:
            assert simulate(url, "--runs", "1", "--retry-count", "2") == 1
        assert next(attempts) == 3

    def test_is_sent_the_same_time_in_every_retry(self) -> None:
        """R01."""
        times: list[str] = []

        def second_succeeds(request: StubHandler) -> tuple[int, str]:
            times.append(request.headers["X-CloudScheduler-ScheduleTime"])
            return (200, "processed") if len(times) > 1 else (500, "failed")

        with stub_server(second_succeeds) as url:
            assert simulate(url, "--runs", "1") == 0
        assert times[0] == times[1]

    def test_may_be_simulated_again(self) -> None:
        with stub_server(OnceServer()) as url:
            assert [simulate(url, "--runs", "1") for _ in range(2)] == [0, 0]

    def test_leaves_a_picture_that_loads_nothing(self, tmp_path: Path) -> None:
        picture = tmp_path / "timeline.svg"
        with stub_server(OnceServer()) as url:
            assert simulate(url, "--runs", "1", "--svg", str(picture)) == 0

        text = picture.read_text(encoding="utf-8")
        assert "processed" in text
        assert "url(" not in text.replace("url(#", "")

    def test_that_is_not_there_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]

        assert simulate(f"http://127.0.0.1:{port}/") == 2
        assert "nothing listens" in capsys.readouterr().out


def derived(*, deadline: float, lease: float) -> RetryConfig:
    """The retries of this project's kind of job every 15 minutes."""
    return retry_config(Times(deadline, deadline, lease, 900, settle_time(defaults.KIND)))


class TestCommandLine:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--schedule", "every 5 minutes"], "unix-cron"),
            (["--time-zone", "Nowhere"], "tz database"),
            (["--url", "ftp://h/"], "http or https"),
            (["--url", "http://h/", "--kill", "in-job"], "leave --url out"),
            (["--url", "http://h/", "--lost-answer"], "leave --url out"),
            (["--url", "http://h/", "--scenario", "crash-in-job"], "leave --url out"),
            (["--scenario", "forced", "--runs", "2"], "leave the other options out"),
            (["--retry-count", "6"], "0 to 5"),
            (["--min-backoff", "nan"], "number of seconds"),
            (["--lease", "4"], "5 or more"),
            (["--header", "no colon"], "NAME: VALUE"),
            (["--runs", "0"], "1 or more"),
        ],
    )
    def test_mistakes_are_explained(
        self, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit) as stop:
            parse(arguments, {}, TIME)

        assert stop.value.code == 2
        assert message in capsys.readouterr().err

    def test_without_options_plays_the_telling_scenarios(self) -> None:
        runs = planned_runs(parse([], {}, TIME), TIME)

        assert [run.forced for run in runs] == [True, False, False, False, False]
        assert runs[0].schedule_time == runs[-1].schedule_time > TIME
        assert {fault for run in runs for fault in run.faults} == {
            Fault.LOST_ANSWER,
            Fault.KILL_AFTER_CLAIM,
        }

    def test_retries_soon_as_short_attempts_and_leases_allow(self) -> None:
        """R31."""
        assert parse(QUARTERS, {}, TIME).retry == derived(deadline=15, lease=5)
        longer = [*QUARTERS, "--lease", "60"]
        assert parse(longer, {}, TIME).retry == derived(deadline=15, lease=60)

    def test_in_real_time_retries_as_the_job_would(self) -> None:
        """R31: from the attempt deadline, the lease and the schedule."""
        options = parse([*QUARTERS, "--real-time", "--lease", "60"], DEADLINE, TIME)
        assert options.retry == derived(deadline=180, lease=60)

    def test_explains_where_no_retries_would_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        """R31."""
        with pytest.raises(SystemExit):
            parse(["--real-time", "--schedule", "* * * * *"], DEADLINE, TIME)
        message = capsys.readouterr().err
        assert "A crash could lose the run" in message
        assert "--retry-count" in message

    def test_retries_as_it_is_told_with_the_defaults_of_cloud_scheduler(self) -> None:
        assert parse(["--retry-count", "2"], {}, TIME).retry == RetryConfig(2)
        assert parse(["--min-backoff", "0.5"], {}, TIME).retry == RetryConfig(5, 0.5)

    def test_combines_faults_in_an_order_in_which_all_can_strike(self) -> None:
        arguments = ["--runs", "2", "--lost-answer", "--kill", "in-job", "--duplicates", "3"]
        runs = planned_runs(parse(arguments, {}, TIME), TIME)

        assert [run.copies for run in runs] == [3, 3]
        assert runs[0].faults == (Fault.KILL_IN_JOB, Fault.LOST_ANSWER)

    def test_in_real_time_waits_for_the_times_to_come(self) -> None:
        runs = planned_runs(parse(["--real-time", "--runs", "2", "--forced"], {}, TIME), TIME)

        assert [run.forced for run in runs] == [True, False, False]
        assert [run.due is None or run.due > TIME for run in runs] == [True, True, True]
        assert runs[1].until == runs[2].due

    def test_offers_a_running_server_what_needs_no_control(self) -> None:
        options = parse(["--url", "http://h/", "--scenario", "all"], {}, TIME)

        assert options.scenarios == (Scenario.DUPLICATES, Scenario.FORCED)


class TestStoreHold:
    def test_keeps_writers_out_from_the_next_commit_on(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        server = sqlite3.connect(path, isolation_level=None, timeout=0.5)
        server.execute("CREATE TABLE runs (id)")
        hold = StoreHold(path)
        try:
            server.execute("INSERT INTO runs VALUES (1)")
            assert hold.taken.wait(5)
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                server.execute("INSERT INTO runs VALUES (2)")
        finally:
            hold.release()
        server.execute("INSERT INTO runs VALUES (3)")
        server.close()

    def test_ends_without_a_commit(self, tmp_path: Path) -> None:
        hold = StoreHold(tmp_path / "runs.db")
        hold.release()

        assert not hold.taken.is_set()


class TestServe:
    def test_sets_local_defaults_where_the_environment_says_nothing(self) -> None:
        """R41."""
        environ = local_environment({"PORT": "9000", "PATH": "/bin"})

        assert (environ["PORT"], environ["AUTH"]) == ("9000", "off")
        assert environ["RUN_STORE_URL"].startswith("sqlite:///")
        assert environ["PATH"].endswith("/bin")

    def test_starts_the_web_command_of_the_procfile(self) -> None:
        assert web_command("# comment\nweb: serve -b :$PORT main:app\n").startswith("serve")
        with pytest.raises(ValueError, match="web:"):
            web_command("worker: run\n")

    @pytest.mark.parametrize("port", ["", "0", "65536", "99999999", "-1", "http", "\u0661"])
    def test_refuses_a_port_that_is_none(self, port: str) -> None:
        with pytest.raises(ValueError, match="a number from 1 to 65535"):
            checked_port(port)
