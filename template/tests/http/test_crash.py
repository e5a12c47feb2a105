"""kill -9 at each step of the protocol (R28)."""

from concurrent.futures import wait
from dataclasses import dataclass
from datetime import timedelta

import pytest

from app.dedup.record import Record, Status
from tests.support.jobs import Plan
from tests.support.servers.places import on_every_store
from tests.support.servers.site import LEASE, QUICK, Scheduled, Site

pytestmark = on_every_store


@dataclass(frozen=True, slots=True)
class Orphan:
    """A run whose attempt was killed, and its record at that time."""

    run: Scheduled
    record: Record

    @property
    def run_id(self) -> str:
        return self.run.run_id


def record_of(site: Site, run: Scheduled) -> Record:
    record = site.record(run.run_id)
    assert record is not None
    return record


@pytest.fixture(scope="module")
def orphans(site: Site) -> dict[str, Orphan]:
    """Three runs of one server that is killed: each attempt stands at another step."""
    victim = site.victim()
    runs = {step: Scheduled() for step in ("claimed", "job", "finish")}
    gates = {step: f"{step}-{run.job_name}" for step, run in runs.items()}
    sent = []
    for step, run in runs.items():
        site.gates.close(gates[step])
        plan = Plan(gate=gates[step] if step == "job" else "")
        sent.append(site.start(run, plan, to=victim, settings=QUICK))
    for gate in gates.values():
        site.gates.wait_for_arrival(gate)
    victim.kill()
    records = {step: record_of(site, run) for step, run in runs.items()}
    wait(sent)
    assert all(one.exception() for one in sent)
    for gate in gates.values():
        site.gates.open(gate)
    return {step: Orphan(run, records[step]) for step, run in runs.items()}


def recover(site: Site, orphan: Orphan) -> Record:
    """Deliver the run until it is completed, by whichever test comes first."""
    assert site.deliver_until_free(orphan.run).status == 200
    record = record_of(site, orphan.run)
    assert record.status is Status.COMPLETED
    assert record.attempt_id != orphan.record.attempt_id
    return record


class TestAfterAKill:
    """R28, R13, bug rows 1 and 51: the next delivery after the lease completes the run."""

    def test_behind_the_claim_the_run_is_taken_over_and_done(
        self, site: Site, orphans: dict[str, Orphan]
    ) -> None:
        recover(site, orphans["claimed"])
        [start] = site.effects.starts(orphans["claimed"].run_id)
        assert start.recovered

    def test_in_the_job_the_run_is_taken_over_and_done_again(
        self, site: Site, orphans: dict[str, Orphan]
    ) -> None:
        recover(site, orphans["job"])
        killed, second = site.effects.starts(orphans["job"].run_id)
        [end] = site.effects.ends(orphans["job"].run_id)
        assert (killed.recovered, second.recovered) == (False, True)
        assert second.fence > killed.fence
        assert end.attempt_id == second.attempt_id

    def test_before_the_finish_the_run_is_taken_over_and_the_job_can_know(
        self, site: Site, orphans: dict[str, Orphan]
    ) -> None:
        recover(site, orphans["finish"])
        first, second = site.effects.ends(orphans["finish"].run_id)
        assert (first.recovered, second.recovered) == (False, True)

    @pytest.mark.parametrize("step", ["claimed", "job", "finish"])
    def test_nobody_takes_over_before_the_lease_has_ended(
        self, site: Site, orphans: dict[str, Orphan], step: str
    ) -> None:
        """R16."""
        record = recover(site, orphans[step])
        assert record.claimed_at is not None
        expected = orphans[step].record.lease_expires
        assert expected is not None
        about = timedelta(seconds=LEASE / 10)
        assert record.claimed_at >= expected - about

    @pytest.mark.parametrize("step", ["claimed", "job", "finish"])
    def test_later_deliveries_are_duplicates(
        self, site: Site, orphans: dict[str, Orphan], step: str
    ) -> None:
        """R11."""
        recover(site, orphans[step])
        assert site.deliver(orphans[step].run).outcome == (200, "duplicate")
