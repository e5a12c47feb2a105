"""A store that stands still during a claim and during a finish (R25, R26)."""

import time
from concurrent.futures import wait
from dataclasses import dataclass

import pytest

from tests.support.jobs import Plan
from tests.support.servers.places import on_every_store
from tests.support.servers.site import LEASE, Scheduled, Site
from tests.support.servers.wire import Answer

LIMIT = 15
"""Seconds of the request: Cloud Scheduler's shortest attempt deadline."""

pytestmark = on_every_store


@dataclass(frozen=True, slots=True)
class Timed:
    """An answer, and the seconds that it took."""

    answer: Answer
    seconds: float


def timed(site: Site, run: Scheduled, plan: Plan, lease: float) -> Timed:
    began = time.monotonic()
    answer = site.deliver(run, plan, settings={"lease": lease, "request_timeout": LIMIT})
    return Timed(answer, time.monotonic() - began)


Timeds = dict[str, tuple[Scheduled, Timed]]


@pytest.fixture(scope="module")
def short(site: Site) -> Timeds:
    """Two runs: for 1.5 s of a long lease, one is being claimed and the other finished."""
    return hang(site, lease=60.0, seconds=1.5)


@pytest.fixture(scope="module")
def long(site: Site) -> Timeds:
    """Two runs that are answered while the store still stands still."""
    return hang(site, lease=LEASE, seconds=None)


def hang(site: Site, lease: float, seconds: float | None) -> Timeds:
    """Keep the store from answering a claim and a finish, for some seconds or until both end."""
    runs = {name: Scheduled() for name in ("claim", "finish")}
    gate = runs["finish"].job_name
    site.gates.close(gate)
    finish = site.senders.submit(timed, site, runs["finish"], Plan(gate=gate), lease)
    site.gates.wait_for_arrival(gate)
    with site.hanging():
        claim = site.senders.submit(timed, site, runs["claim"], Plan(), lease)
        site.gates.open(gate)
        wait([claim, finish], seconds)
    return {"claim": (runs["claim"], claim.result()), "finish": (runs["finish"], finish.result())}


class TestForLessThanTheLease:
    @pytest.mark.parametrize("name", ["claim", "finish"])
    def test_the_run_is_done_once(self, site: Site, short: Timeds, name: str) -> None:
        """R25: none is done twice, and none is lost."""
        run, first = short[name]
        assert first.answer.outcome == (200, "processed")
        assert site.deliver(run).outcome == (200, "duplicate")
        assert len(site.effects.starts(run.run_id)) == 1


class TestForLonger:
    @pytest.mark.parametrize("name", ["claim", "finish"])
    def test_the_answer_comes_within_the_request(self, long: Timeds, name: str) -> None:
        """R26: never a hang."""
        assert long[name][1].seconds < LIMIT

    def test_a_run_that_could_not_be_claimed_is_not_begun_and_done_by_a_retry(
        self, site: Site, long: Timeds
    ) -> None:
        """R25: 500 without work; what hung may have been written, and is taken over."""
        run, first = long["claim"]
        assert first.answer.outcome == (500, "unavailable")
        assert site.effects.starts(run.run_id) == []
        assert site.deliver_until_free(run).outcome == (200, "processed")
        assert len(site.effects.starts(run.run_id)) == 1

    def test_work_whose_record_is_missing_is_done_again_as_recovered(
        self, site: Site, long: Timeds
    ) -> None:
        """R25: 500, and the answer says that the work was done.

        A finish that hung may have been written after all; then the retry is a duplicate.
        """
        run, first = long["finish"]
        assert first.answer.outcome == (500, "failed")
        assert "its record was not written" in first.answer.reason
        later = site.deliver_until_free(run)
        recovered = [start.recovered for start in site.effects.starts(run.run_id)]
        expected = {"duplicate": [False], "processed": [False, True]}
        assert (later.status, recovered) == (200, expected[later.outcome[1]])
