"""Many deliveries of one run at the same moment, to one server and to several (R10-R12, R16)."""

from collections import Counter
from concurrent.futures import Future, wait

import pytest

from tests.support.jobs import Plan
from tests.support.servers.gates import eventually
from tests.support.servers.places import on_every_store
from tests.support.servers.site import Scheduled, Site
from tests.support.servers.wire import Answer

MANY = 50

pytestmark = on_every_store


def deliver_many(site: Site, run: Scheduled, plan: Plan, servers: int) -> list[Future[Answer]]:
    chosen = site.servers(servers)
    return [site.start(run, plan, to=chosen[number % servers]) for number in range(MANY)]


@pytest.mark.parametrize("servers", [3, 1])
class TestFiftyDeliveriesAtOnce:
    def test_start_the_job_once_and_hear_in_progress_while_it_works(
        self, site: Site, run: Scheduled, servers: int
    ) -> None:
        """R12, bug rows 35, 45 and 55: one winner, 49 times 409, no error."""
        site.gates.close(run.job_name)
        sent = deliver_many(site, run, Plan(gate=run.job_name, result={"rows": 3}), servers)
        eventually("all but one are answered", lambda: sum(map(Future.done, sent)) == MANY - 1)
        site.gates.open(run.job_name)
        outcomes = [one.result().outcome for one in sent]
        assert sorted(outcomes) == [(200, "processed"), *[(409, "in_progress")] * (MANY - 1)]
        assert len(site.effects.starts(sent[0].result().run_id)) == 1

    def test_start_the_job_once_however_they_meet(
        self, site: Site, run: Scheduled, servers: int
    ) -> None:
        """R11, R12: with work that takes no time, the late ones are duplicates."""
        sent = deliver_many(site, run, Plan(), servers)
        wait(sent)
        outcomes = [one.result().outcome for one in sent]
        assert outcomes.count((200, "processed")) == 1
        assert set(outcomes) <= {(200, "processed"), (200, "duplicate"), (409, "in_progress")}
        [start] = site.effects.starts(sent[0].result().run_id)
        assert not start.recovered
        assert {site.deliver(run, to=one).outcome for one in site.servers(servers)} == {
            (200, "duplicate")
        }


def test_fifty_runs_at_once_are_started_once_each(site: Site) -> None:
    """R10: runs do not stand in each other's way."""
    chosen = site.servers(3)
    runs = [Scheduled() for _ in range(MANY)]
    sent = [site.start(run, to=chosen[n % 3]) for n, run in enumerate(runs)]
    assert {one.result().outcome for one in sent} == {(200, "processed")}
    started = Counter(one.run_id for one in site.effects.all("start"))
    assert [started[run.run_id] for run in runs] == [1] * MANY
