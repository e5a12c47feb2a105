"""The lease while a job works: renewed, and left to end at the request's time limit (R18)."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta

import pytest

from app.dedup.record import Record, Status
from tests.support.jobs import Plan
from tests.support.servers.gates import eventually
from tests.support.servers.places import on_every_framework
from tests.support.servers.site import LEASE, QUICK, Scheduled, Site
from tests.support.servers.wire import Answer

LIMITED = {"request_timeout": 1.0}

pytestmark = on_every_framework


@dataclass(frozen=True, slots=True)
class Working:
    """A run whose job works behind a gate, and the answer that is to come."""

    run: Scheduled
    answer: Future[Answer]

    @property
    def gate(self) -> str:
        return self.run.job_name


@pytest.fixture(scope="module")
def working(site: Site) -> dict[str, Working]:
    """Three runs that take their time, and take it together."""

    def begin(settings: Mapping[str, object], until: str = "", raises: str = "") -> Working:
        run = Scheduled()
        plan = Plan(until=until, gate="" if raises else run.job_name, raises=raises)
        site.gates.close(run.job_name)
        return Working(run, site.start(run, plan, settings=settings))

    return {
        "long": begin(QUICK),
        "late": begin({**QUICK, **LIMITED}, until="stopping"),
        "obedient": begin(LIMITED, until="stopping", raises="Stopping"),
    }


def record_of(site: Site, run: Scheduled) -> Record:
    record = site.record(run.run_id)
    assert record is not None
    return record


def test_work_of_three_leases_is_never_taken_over(site: Site, working: dict[str, Working]) -> None:
    """R18, bug row 20: each duplicate hears 409 as long as the job works."""
    long = working["long"]
    site.gates.wait_for_arrival(long.gate)
    answers: list[Answer] = []

    def three_leases_have_passed() -> bool:
        answers.append(site.deliver(long.run, settings=QUICK))
        record = record_of(site, long.run)
        assert record.claimed_at is not None
        return record.read_at - record.claimed_at > timedelta(seconds=3 * LEASE)

    eventually("three leases have passed", three_leases_have_passed)
    site.gates.open(long.gate)
    assert {answer.outcome for answer in answers} == {(409, "in_progress")}
    assert {answer.retry_after for answer in answers} == {1}
    assert long.answer.result().outcome == (200, "processed")
    assert site.deliver(long.run).outcome == (200, "duplicate")
    assert len(site.effects.starts(long.run.run_id)) == 1
    [end] = site.effects.ends(long.run.run_id)
    assert not end.lost


class TestAtTheTimeLimit:
    def test_a_job_that_goes_on_keeps_its_claim_until_the_lease_ends(
        self, site: Site, working: dict[str, Working]
    ) -> None:
        """R18: nothing is renewed any more, nor released. R24: in the end it comes too late."""
        late = working["late"]
        site.gates.wait_for_arrival(late.gate)
        [start] = site.effects.starts(late.run.run_id)
        record = record_of(site, late.run)
        assert (record.status, record.attempt_id) == (Status.IN_PROGRESS, start.attempt_id)
        assert site.deliver_until_free(late.run).outcome == (200, "processed")
        site.gates.open(late.gate)
        assert late.answer.result().outcome == (200, "duplicate")
        assert [one.recovered for one in site.effects.starts(late.run.run_id)] == [False, True]
        told = {one.attempt_id: one.stopping for one in site.effects.ends(late.run.run_id)}
        assert told[start.attempt_id]

    def test_a_job_that_stops_makes_way_at_once(
        self, site: Site, working: dict[str, Working]
    ) -> None:
        """R18, R21: `Stopping` is a failure like any other, and releases the claim."""
        obedient = working["obedient"]
        assert obedient.answer.result().outcome == (500, "failed")
        assert site.deliver(obedient.run).outcome == (200, "processed")
        starts = site.effects.starts(obedient.run.run_id)
        assert [one.recovered for one in starts] == [False, False]
