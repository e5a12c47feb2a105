"""A server that stands still past its lease and goes on (R19, R24; bug rows 17 and 29)."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from app.dedup.record import Record, Status
from tests.support.jobs import Plan
from tests.support.servers.places import on_every_store
from tests.support.servers.site import QUICK, Scheduled, Site
from tests.support.servers.wire import Answer

RUNS = ("completed", "at work", "erased")
"""What became of each run while its first attempt stood still."""

pytestmark = on_every_store


@dataclass(frozen=True, slots=True)
class Late:
    """A late attempt's answer, and the record before it and after it."""

    run: Scheduled
    before: Record | None
    after: Record | None
    answer: Answer


@pytest.fixture(scope="module")
def late(site: Site) -> Iterator[dict[str, Late]]:
    """Three runs of a server that stood still while another one took them over."""
    victim = site.victim()
    runs = {name: Scheduled() for name in RUNS}
    sent = {
        name: site.start(run, Plan(until="lost"), to=victim, settings=QUICK)
        for name, run in runs.items()
    }
    for run in runs.values():
        site.wait_for_start(run)
    victim.freeze()
    gate = runs["at work"].job_name
    site.gates.close(gate)
    other = site.senders.submit(site.deliver_until_free, runs["at work"], Plan(gate=gate))
    for name in ("completed", "erased"):
        assert site.deliver_until_free(runs[name]).outcome == (200, "processed")
    site.gates.wait_for_arrival(gate)
    if record := site.record(runs["erased"].run_id):
        site.erase(record)
    before = {name: site.record(run.run_id) for name, run in runs.items()}
    victim.thaw()
    answers = {name: one.result() for name, one in sent.items()}
    after = {name: site.record(run.run_id) for name, run in runs.items()}
    yield {name: Late(runs[name], before[name], after[name], answers[name]) for name in RUNS}
    site.gates.open(gate)
    assert other.result().outcome == (200, "processed")
    site.give_back(victim)


class TestTheLateAttempt:
    def test_is_a_duplicate_of_a_run_that_another_one_completed(
        self, late: dict[str, Late]
    ) -> None:
        """R24."""
        assert late["completed"].answer.outcome == (200, "duplicate")

    def test_is_lost_while_another_one_is_at_work(self, late: dict[str, Late]) -> None:
        """R24: 409 with the lease of the other, never 200 while nobody has finished the run."""
        assert late["at work"].answer.outcome == (409, "lost")
        assert late["at work"].answer.retry_after >= 1

    def test_is_lost_where_the_record_is_gone(self, late: dict[str, Late]) -> None:
        """R24: 500, so that the run is done again."""
        assert late["erased"].answer.outcome == (500, "lost")
        assert late["erased"].after is None

    @pytest.mark.parametrize("name", RUNS)
    def test_is_told_that_its_claim_is_lost(
        self, site: Site, late: dict[str, Late], name: str
    ) -> None:
        """R19: and the one that took over knows that it did."""
        first, second = site.effects.starts(late[name].run.run_id)
        [end] = [
            one
            for one in site.effects.ends(late[name].run.run_id)
            if one.attempt_id == first.attempt_id
        ]
        assert end.lost
        assert (first.recovered, second.recovered) == (False, True)
        assert second.fence > first.fence

    def test_writes_nothing_to_a_completed_record(self, late: dict[str, Late]) -> None:
        """R19, bug row 17."""
        before, after = late["completed"].before, late["completed"].after
        assert before is not None
        assert after is not None
        assert after.status is Status.COMPLETED
        assert before.stamp == after.stamp

    def test_leaves_the_claim_to_the_one_at_work(self, site: Site, late: dict[str, Late]) -> None:
        """R19, bug row 17: a late finish takes nothing from the next holder."""
        after = late["at work"].after
        second = site.effects.starts(late["at work"].run.run_id)[1]
        assert after is not None
        assert (after.status, after.attempt_id) == (Status.IN_PROGRESS, second.attempt_id)
