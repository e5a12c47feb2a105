"""The lease while a job works: renewed, and left to end at the request's time limit (R18)."""

from datetime import timedelta

from app.dedup.record import Status
from tests.support.jobs import Plan
from tests.support.servers.gates import eventually
from tests.support.servers.places import on_every_framework
from tests.support.servers.site import LEASE, QUICK, Scheduled, Site
from tests.support.servers.wire import Answer

SHORT = {"lease": LEASE, "request_timeout": 1.0}

pytestmark = on_every_framework


def test_work_of_three_leases_is_never_taken_over(site: Site, run: Scheduled) -> None:
    """R18, bug row 20: each duplicate hears 409 as long as the job works."""
    site.gates.close(run.job_name)
    working = site.start(run, Plan(gate=run.job_name), settings=QUICK)
    site.gates.wait_for_arrival(run.job_name)
    answers: list[Answer] = []

    def three_leases_have_passed() -> bool:
        answers.append(site.deliver(run, settings=QUICK))
        record = site.record(run.run_id)
        assert record is not None
        assert record.claimed_at is not None
        return record.read_at - record.claimed_at > timedelta(seconds=3 * LEASE)

    eventually("three leases have passed", three_leases_have_passed)
    site.gates.open(run.job_name)
    assert {(answer.outcome, answer.retry_after) for answer in answers} == {
        ((409, "in_progress"), 1)
    }
    assert working.result().outcome == (200, "processed")
    assert site.deliver(run).outcome == (200, "duplicate")
    assert len(site.effects.starts(run.run_id)) == 1
    [end] = site.effects.ends(run.run_id)
    assert not end.lost


def test_at_the_time_limit_the_job_is_told_and_keeps_its_claim_until_the_lease_ends(
    site: Site, run: Scheduled
) -> None:
    """R18: renewal ends, and nothing is released while the work goes on. R24: then it is late."""
    site.gates.close(run.job_name)
    late = site.start(run, Plan(until="stopping", gate=run.job_name), settings=SHORT)
    site.gates.wait_for_arrival(run.job_name)
    [start] = site.effects.starts(run.run_id)
    record = site.record(run.run_id)
    assert record is not None
    assert (record.status, record.attempt_id) == (Status.IN_PROGRESS, start.attempt_id)
    assert site.deliver_until_free(run).outcome == (200, "processed")
    site.gates.open(run.job_name)
    assert late.result().outcome == (200, "duplicate")
    assert [one.recovered for one in site.effects.starts(run.run_id)] == [False, True]
    ended = next(one for one in site.effects.ends(run.run_id) if one.attempt_id == start.attempt_id)
    assert ended.stopping


def test_at_the_time_limit_a_job_that_stops_makes_way_at_once(site: Site, run: Scheduled) -> None:
    """R18, R21: `Stopping` is a failure like any other, and releases the claim."""
    plan = Plan(until="stopping", raises="Stopping")
    failed = site.deliver(run, plan, settings={"request_timeout": 1.0})
    assert failed.outcome == (500, "failed")
    assert site.deliver(run).outcome == (200, "processed")
    assert [one.recovered for one in site.effects.starts(run.run_id)] == [False, False]
