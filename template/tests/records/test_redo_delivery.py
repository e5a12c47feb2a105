"""What `redo` sends, and what it makes of the answers (R40)."""

import math
import shlex
import shutil
import subprocess

import pytest

from app.dedup import GiveUp
from app.dedup.delivery import JobScope, Trigger, read_delivery
from app.dedup.record import Status
from app.dedup.store import Run
from tests.support.command import SERVICE, Command, end, text
from tests.support.missing import missing
from tests.support.pretending import Reply, pretending, told
from tests.support.served import Served, served
from tests.support.stores import Harness, movable
from tests.support.work import Work


@movable
class TestAnswer:
    @pytest.mark.parametrize(
        ("error", "status", "outcome"),
        [(ValueError("no"), 500, "failed"), (GiveUp("no"), 200, "gave_up")],
    )
    def test_other_than_done_is_told_by_the_exit_status(
        self,
        command: Command,
        service: Served,
        work: Work,
        run: Run,
        error: Exception,
        status: int,
        outcome: str,
    ) -> None:
        work.error = error
        argv = ("redo", text(run.schedule_time), "--url", service.url)
        done = command(*argv, "--json")
        assert done.status == 1
        assert (done.data["status"], done.data["answer"]["outcome"]) == (status, outcome)
        assert f"the answer is {status} {outcome}" in command(*argv).out

    def test_that_is_no_json_is_not_passed_on(self, command: Command, run: Run) -> None:
        with pretending((200, {"outcome": "processed", "rows": math.nan})) as url:
            done = command("redo", text(run.schedule_time), "--url", url, "--json")
        assert done.status == 1
        assert done.data["answer"] == {}

    def test_that_is_no_answer_of_the_service_is_told_by_its_status(
        self, command: Command, service: Served, run: Run
    ) -> None:
        done = command("redo", text(run.schedule_time), "--url", f"{service.url}/elsewhere")
        assert done.status == 1
        assert "the answer is 404 rejected, There is nothing at this path" in done.out


@movable
class TestFirstDelivery:
    """R40: nothing is deleted before a delivery has shown that the next one can work."""

    @pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED])
    def test_meets_the_record_and_only_the_second_does_the_work(
        self,
        harness: Harness,
        command: Command,
        service: Served,
        work: Work,
        run: Run,
        status: Status,
    ) -> None:
        end(harness, run, status)
        assert command("redo", run.run_id, "--url", service.url).status == 0
        first, second = service.requests
        assert (first.headers, first.body) == (second.headers, second.body)
        assert len(work.attempts) == 1

    @pytest.mark.parametrize(
        "reply",
        [
            (401, {"outcome": "rejected", "reason": "no token"}),
            (403, {}),
            (404, {"outcome": "rejected"}),
            (500, {"outcome": "unavailable"}),
            (409, {"outcome": "in_progress"}),
            (200, {"outcome": "duplicate"}),
            (200, {"outcome": "duplicate", "run_id": "f" * 64}),
            (200, {"outcome": "processed", "run_id": "f" * 64}),
            (200, {}),
            (302, {}),
            None,
        ],
    )
    def test_with_any_other_answer_leaves_the_record_as_it_is(
        self, harness: Harness, command: Command, run: Run, reply: Reply
    ) -> None:
        """An expired token, another service, a proxy, an outage."""
        end(harness, run)
        before = harness.raw(run.run_id)
        for argv in (["--json"], []):
            with pretending(reply) as url:
                done = command("redo", run.run_id, "--url", url, *argv)
            assert done.status == 1
        assert done.out.startswith("Nothing was deleted. ")
        assert harness.raw(run.run_id) == before

    def test_tells_an_answer_about_another_run(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        end(harness, run)
        with pretending((200, {"outcome": "processed", "run_id": "f" * 64})) as url:
            done = command("redo", run.run_id, "--url", url)
        assert "is about another run" in done.out

    def test_does_the_work_if_the_record_has_gone_meanwhile(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        end(harness, run)
        with pretending(told("processed", run)) as url:
            done = command("redo", run.run_id, "--url", url, "--json")
        assert (done.status, done.data["deleted"]) == (0, False)
        assert done.data["answer"]["outcome"] == "processed"

    def test_is_followed_by_one_whose_missing_answer_is_told(
        self, harness: Harness, command: Command, run: Run
    ) -> None:
        """The run may go on all the same, so that nothing is said about it."""
        end(harness, run)
        with pretending(told("duplicate", run), None) as url:
            done = command("redo", run.run_id, "--url", url, "--json")
        assert done.status == 1
        assert (done.data["deleted"], done.data["delivered"]) == (True, True)
        assert done.data["status"] is None

    def test_of_a_run_without_a_record_is_the_only_one(
        self, command: Command, service: Served, run: Run
    ) -> None:
        command("redo", text(run.schedule_time), "--url", service.url)
        assert len(service.requests) == 1


@movable
class TestDeliveryThatCannotWork:
    @pytest.mark.parametrize("argv", [(), ("--dry-run",)])
    def test_for_want_of_a_token_is_refused_before_anything_is_done(
        self, harness: Harness, command: Command, service: Served, run: Run, argv: tuple[str, ...]
    ) -> None:
        """R33."""
        end(harness, run)
        before = harness.raw(run.run_id)
        done = command("redo", run.run_id, "--url", service.url, *argv, AUTH="iam")
        assert (done.status, done.out) == (2, "")
        assert "ID_TOKEN is not set" in done.err
        assert harness.raw(run.run_id) == before
        assert not service.requests


@movable
class TestRequest:
    def test_has_the_headers_that_make_the_key(
        self, command: Command, service: Served, run: Run
    ) -> None:
        command("redo", text(run.schedule_time), "--url", service.url)
        (request,) = service.requests
        assert request.headers["x-cloudscheduler"] == ("true",)
        assert request.headers["x-cloudscheduler-jobname"] == ("nightly",)
        assert request.headers["x-cloudscheduler-scheduletime"] == (text(run.schedule_time),)
        assert "authorization" not in request.headers
        assert "content-type" not in request.headers
        assert request.body == b""

    def test_has_the_headers_and_the_body_of_the_job(
        self, command: Command, service: Served, run: Run
    ) -> None:
        argv = ("redo", text(run.schedule_time), "--url", service.url, "--body", '{"a":"\u00e4"}')
        command(*argv)
        command(*argv, "--header", "Content-Type: application/json", "--header", "X-Mine:1")
        first, _, second = service.requests
        assert first.body == second.body == '{"a":"\u00e4"}'.encode()
        assert first.headers["content-type"] == ("application/octet-stream",)
        assert second.headers["content-type"] == ("application/json",)
        assert second.headers["x-mine"] == ("1",)

    def test_has_the_token_from_the_environment(
        self, command: Command, service: Served, run: Run
    ) -> None:
        """R33; R39: and shows it nowhere."""
        argv = ("redo", text(run.schedule_time), "--url", service.url, "--json")
        done = command(*argv, ID_TOKEN="secret.token", AUTH="iam")
        assert service.requests[0].headers["authorization"] == ("Bearer secret.token",)
        assert "secret" not in done.out + done.err
        assert '"Authorization: Bearer $ID_TOKEN"' in done.data["command"]

    @pytest.mark.parametrize(
        "argv",
        [
            ("--url", ""),
            ("--url", "localhost:8080"),
            ("--url", "ftp://localhost"),
            ("--url", "http://"),
            ("--url", "http://a..b/"),
            ("--url", "http://h%ff/"),
            ("--url", "http://localhost:0"),
            ("--url", f"http://{'x' * 64}/"),
            ("--url", "http://me@localhost"),
            ("--url", "http://localhost/a b"),
            ("--url", "http://localhost:99999"),
            ("--url", "http://localhost/#top"),
            ("--header", "no header"),
            ("--header", "X-A: 1", "--header", "x-a: 2"),
            ("--header", "Content-Length: 1"),
            ("--header", "Transfer-Encoding: chunked"),
            ("--header", "Host: other"),
            ("--header", "Connection: close"),
            ("--header", "X-A: 1\r\nX-B: 2"),
            ("--header", "X-CloudScheduler-JobName: other"),
            ("--header", "Authorization: Bearer secret"),
            ("--header", "X-Serverless-Authorization: Bearer secret"),
            ("--body", "\udcff"),
        ],
    )
    def test_that_makes_no_sense_is_refused_before_anything_is_done(
        self, harness: Harness, command: Command, run: Run, argv: tuple[str, ...]
    ) -> None:
        end(harness, run)
        before = harness.raw(run.run_id)
        done = command("redo", run.run_id, *argv)
        assert (done.status, done.out) == (2, "")
        assert argv[0] in done.err
        assert "secret" not in done.err
        assert harness.raw(run.run_id) == before

    def test_with_a_token_that_is_none_is_refused_without_showing_it(
        self, command: Command, run: Run
    ) -> None:
        done = command("redo", text(run.schedule_time), ID_TOKEN="secret\nX-A: 1")
        assert done.status == 2
        assert "ID_TOKEN" in done.err
        assert "secret" not in done.err


@movable
@pytest.mark.parametrize("scope", JobScope)
class TestScope:
    """R05: the delivery says project and location in the place that the service reads."""

    def test_is_delivered_where_the_service_reads_it(
        self, harness: Harness, command: Command, work: Work, run: Run, scope: JobScope
    ) -> None:
        argv = [] if scope is JobScope.NONE else ["--location", "us-central1"]
        with served(harness, work, job_scope=scope) as service:
            url = ("--url", f"{service.url}/")
            done = command("redo", text(run.schedule_time), *argv, *url, "--json", JOB_SCOPE=scope)
            assert done.status == 0
            again = command("redo", done.data["run_id"], *url, JOB_SCOPE=scope)
            assert again.status == 0
        assert [each.run_id for each in work.attempts] == [done.data["run_id"]] * 2
        assert {each.location for each in work.attempts} == {argv[-1] if argv else ""}

    def test_is_in_the_printed_command(
        self, harness: Harness, command: Command, work: Work, run: Run, scope: JobScope
    ) -> None:
        """Which does what it says, in a shell."""
        if shutil.which("curl") is None:
            missing("curl", "it is not installed")
        argv = [] if scope is JobScope.NONE else ["--location", "us-central1"]
        done = command(
            *("redo", text(run.schedule_time), *argv, "--body", "it's $HOME"),
            *("--header", 'X-Mine: "1" `2`'),
            JOB_SCOPE=scope,
        )
        line = done.out.splitlines()[-1]
        assert line.startswith("curl ")
        with served(harness, work, job_scope=scope) as service:
            subprocess.run(
                ["sh", "-c", line],
                env={"SERVICE_URL": service.url, "PATH": "/usr/bin:/bin"},
                capture_output=True,
                check=True,
            )
        (request,) = service.requests
        assert request.body == b"it's $HOME"
        assert request.headers["x-mine"] == ('"1" `2`',)
        (attempt,) = work.attempts
        data = command.data("redo", text(run.schedule_time), *argv, "--dry-run", JOB_SCOPE=scope)
        assert attempt.run_id == data["run_id"]


@movable
def test_printed_command_stands_for_the_run(command: Command, run: Run) -> None:
    """Even where no curl is at hand to prove it."""
    words = shlex.split(command.data("redo", text(run.schedule_time), AUTH="iam")["command"])
    fields = [words[place + 1].partition(": ") for place, word in enumerate(words) if word == "-H"]
    headers = {name.lower(): (value,) for name, _, value in fields}
    delivery = read_delivery(headers, "/", {}, JobScope.NONE)
    assert delivery.run_id(SERVICE, Trigger.SCHEDULED) == run.run_id
    assert headers["authorization"] == ("Bearer $ID_TOKEN",)
    assert words[-1] == "$SERVICE_URL/"
