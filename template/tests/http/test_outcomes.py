"""What each end of a delivery looks like to Cloud Scheduler (R11-R25)."""

import hashlib

import pytest

from tests.support.jobs import Plan
from tests.support.servers.places import on_every_framework
from tests.support.servers.site import Scheduled, Site
from tests.support.servers.wire import RawConnection, raw_request, send

pytestmark = on_every_framework


class TestSuccess:
    def test_is_processed_once_and_then_a_duplicate_with_the_kept_result(
        self, site: Site, run: Scheduled
    ) -> None:
        """R10, R11, R20."""
        plan = Plan(result={"rows": 3, "name": "Ünïcode"})
        first = site.deliver(run, plan)
        second = site.deliver(run, plan)
        assert first.outcome == (200, "processed")
        assert second.outcome == (200, "duplicate")
        assert first.body["result"] == second.body["result"] == plan.result
        assert first.run_id == second.run_id
        assert len(first.run_id) == 64
        assert len(site.effects.starts(first.run_id)) == 1

    def test_is_answered_in_json_that_nobody_may_store(self, site: Site, run: Scheduled) -> None:
        answer = site.deliver(run)
        assert answer.headers.get_content_type() == "application/json"
        assert answer.headers["Cache-Control"] == "no-store"

    def test_of_a_job_without_a_result_shows_none(self, site: Site, run: Scheduled) -> None:
        """R20."""
        assert "result" not in site.deliver(run).body
        assert "result" not in site.deliver(run).body

    def test_of_a_coroutine_is_one(self, site: Site, run: Scheduled) -> None:
        """R18: `async def` works too."""
        plan = Plan(asynchronous=True, result={"rows": 3})
        answer = site.deliver(run, plan)
        assert answer.outcome == (200, "processed")
        assert answer.body["result"] == {"rows": 3}
        assert site.deliver(run, plan).outcome == (200, "duplicate")


class TestTheJobSees:
    def test_the_run_that_the_delivery_stands_for(self, site: Site) -> None:
        """R01, R03."""
        run = Scheduled(schedule_time="2024-02-29T05:00:00.5-07:00")
        [start] = site.effects.starts(site.deliver(run).run_id)
        assert start.seen["job_name"] == run.job_name
        assert start.seen["schedule_time"] == "2024-02-29T12:00:00.500000+00:00"
        assert not start.recovered
        assert not start.lost
        assert not start.stopping

    def test_the_body_byte_for_byte(self, site: Site, run: Scheduled) -> None:
        body = bytes(range(256)) * 16
        answer = send(site.server.port, "POST", "/", run.fields(), body)
        [start] = site.effects.starts(answer.run_id)
        assert (start.seen["size"], start.seen["digest"]) == (
            len(body),
            hashlib.sha256(body).hexdigest(),
        )

    def test_the_headers_in_lower_case_without_the_token(self, site: Site, run: Scheduled) -> None:
        """R39: no token."""
        fields = [("X-My-Header", "my value"), ("Authorization", "Bearer secret")]
        [start] = site.effects.starts(site.deliver(run, fields=fields).run_id)
        assert start.seen["headers"]["x-my-header"] == "my value"
        assert start.seen["headers"]["x-cloudscheduler-jobname"] == run.job_name
        assert "authorization" not in start.seen["headers"]
        assert not any("secret" in value for value in start.seen["headers"].values())
        assert "secret" not in site.server.log()


class TestARunAtWork:
    def test_is_in_progress_with_the_seconds_of_its_lease(self, site: Site, run: Scheduled) -> None:
        """R12, R14: 409 keeps Scheduler's retries alive; the record stays as it was."""
        site.gates.close(run.job_name)
        working = site.start(run, Plan(gate=run.job_name))
        site.gates.wait_for_arrival(run.job_name)
        answer = site.deliver(run)
        before = site.record(answer.run_id)
        again = site.deliver(run)
        after = site.record(answer.run_id)
        site.gates.open(run.job_name)
        assert answer.outcome == again.outcome == (409, "in_progress")
        assert 45 <= answer.retry_after <= 60
        assert before is not None
        assert after is not None
        assert (before.stamp, before.attempt_id) == (after.stamp, after.attempt_id)
        assert working.result().outcome == (200, "processed")
        assert len(site.effects.starts(answer.run_id)) == 1

    def test_is_never_said_to_be_free_in_less_than_a_second(
        self, site: Site, run: Scheduled
    ) -> None:
        """R12: rounded up, at least 1."""
        settings = {"lease": 0.9}
        site.gates.close(run.job_name)
        working = site.start(run, Plan(gate=run.job_name), settings=settings)
        site.gates.wait_for_arrival(run.job_name)
        answer = site.deliver(run, settings=settings)
        site.gates.open(run.job_name)
        assert answer.outcome == (409, "in_progress")
        assert answer.headers["Retry-After"] == "1"
        assert working.result().outcome == (200, "processed")

    def test_is_completed_although_its_client_has_gone(self, site: Site, run: Scheduled) -> None:
        """R21: a request that the server drops is no failure of the job."""
        site.gates.close(run.job_name)
        body = Plan(gate=run.job_name).body()
        fields = [*run.raw_fields(), (b"Content-Length", b"%d" % len(body))]
        with RawConnection(site.server.port) as connection:
            connection.write(raw_request(fields, body))
            site.gates.wait_for_arrival(run.job_name)
        answer = site.deliver(run)
        assert answer.outcome == (409, "in_progress")
        site.gates.open(run.job_name)
        assert site.deliver_until_free(run).outcome == (200, "duplicate")
        assert len(site.effects.starts(run.run_id)) == 1


class TestFailure:
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_is_failed_and_the_next_delivery_runs_at_once(
        self, site: Site, run: Scheduled, asynchronous: bool
    ) -> None:
        """R21: a retry need not wait for the lease."""
        failed = site.deliver(run, Plan(raises="ValueError", asynchronous=asynchronous))
        assert failed.outcome == (500, "failed")
        assert "ValueError" in failed.reason
        assert site.record(failed.run_id) is None
        assert site.deliver(run).outcome == (200, "processed")
        first, second = site.effects.starts(failed.run_id)
        assert not second.recovered
        assert second.fence > first.fence

    def test_for_good_is_gave_up_now_and_later(self, site: Site, run: Scheduled) -> None:
        """R23: 200, so that Scheduler stops."""
        first = site.deliver(run, Plan(raises="GiveUp"))
        assert first.outcome == (200, "gave_up")
        assert site.deliver(run).outcome == (200, "gave_up")
        assert len(site.effects.starts(first.run_id)) == 1
        severities = [one["severity"] for one in site.server.events("gave_up", first.run_id)]
        assert severities == ["ERROR", "INFO"]

    def test_of_unknown_outcome_is_looked_into_after_the_settle_time(
        self, site: Site, run: Scheduled
    ) -> None:
        """R22: the record stays, its lease cut to 30 s, and the next attempt knows of this one."""
        assert site.deliver(run, Plan(raises="OutcomeUnknown")).outcome == (500, "failed")
        waiting = site.deliver(run)
        assert waiting.outcome == (409, "in_progress")
        assert 15 <= waiting.retry_after <= 30
        site.pass_time(run, 30)
        assert site.deliver(run).outcome == (200, "processed")
        assert [one.recovered for one in site.effects.starts(run.run_id)] == [False, True]

    def test_of_a_takeover_keeps_the_record_for_the_next_one_to_know(
        self, site: Site, run: Scheduled
    ) -> None:
        """R21: it ends its lease at once instead of deleting the record."""
        site.deliver(run, Plan(raises="OutcomeUnknown"))
        site.pass_time(run, 30)
        assert site.deliver(run, Plan(raises="ValueError")).outcome == (500, "failed")
        assert site.deliver(run).outcome == (200, "processed")
        assert [one.recovered for one in site.effects.starts(run.run_id)] == [False, True, True]

    @pytest.mark.parametrize(
        "exception", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "CancelledError"]
    )
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_of_an_exit_in_the_job_ends_neither_server_nor_run(
        self, site: Site, run: Scheduled, exception: str, asynchronous: bool
    ) -> None:
        """R21: any exception that the job raises; no orphan is left."""
        failed = site.deliver(run, Plan(raises=exception, asynchronous=asynchronous))
        assert failed.outcome == (500, "failed")
        assert exception in failed.reason
        assert site.record(failed.run_id) is None
        assert site.deliver(run).outcome == (200, "processed")


def test_a_store_that_cannot_be_reached_makes_the_service_unavailable(
    site: Site, run: Scheduled
) -> None:
    """R25, bug row 25: it fails closed, and never with a 503."""
    broken = {"run_store_url": "sqlite:////dev/null/runs.db"}
    assert site.deliver(run, settings=broken).outcome == (500, "unavailable")
    assert site.effects.starts(run.run_id) == []
    assert site.deliver(run).outcome == (200, "processed")
