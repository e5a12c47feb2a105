"""SIGTERM while deliveries are at every step (R27, bug row 49)."""

import signal
import time
from concurrent.futures import wait
from dataclasses import dataclass
from http.client import HTTPException

import pytest

from tests.support.jobs import Plan
from tests.support.servers.gates import eventually
from tests.support.servers.places import on_every_framework
from tests.support.servers.site import QUICK, Scheduled, Site
from tests.support.servers.wire import Answer, Client, RawConnection, raw_request

pytestmark = on_every_framework


@dataclass(frozen=True, slots=True)
class Shutdown:
    """What became of each delivery of a server that got SIGTERM.

    Attributes:
        runs: By the step at which each was.
        answers: What the server said.
        retries: What another server said to the next delivery.
        late: The answer to a delivery after the signal, None if the connection was closed.
        claimed: Deliveries that came after the signal, and for which the store was asked.
        released: Seconds from the signal to the answer of the job that raised `Stopping`.
        status: The server's exit status.
        seconds: How long it stayed after the last answer.
    """

    runs: dict[str, Scheduled]
    answers: dict[str, Answer]
    retries: dict[str, Answer]
    late: Answer | None
    claimed: list[str]
    released: float
    status: int
    seconds: float


def send_if_open(client: Client, run: Scheduled) -> Answer | None:
    try:
        return client.send("POST", "/", run.fields())
    except (HTTPException, OSError):
        return None


@pytest.fixture(scope="module")
def shutdown(site: Site) -> Shutdown:
    """A server that gets SIGTERM with a delivery at each step, and the retries elsewhere.

    `returning` works on and returns, `stopping` raises `Stopping`, `claiming` has its claim
    written just then, `arriving` has sent half of its body.
    """
    victim = site.victim()
    runs = {n: Scheduled() for n in ("returning", "stopping", "claiming", "arriving", "late")}
    returning, claiming = runs["returning"].job_name, f"claimed-{runs['claiming'].job_name}"
    asking = {name: f"claim-{runs[name].job_name}" for name in ("arriving", "late")}
    for gate in (returning, claiming, *asking.values()):
        site.gates.close(gate)
    plans = {
        "returning": Plan(until="stopping", gate=returning),
        "stopping": Plan(until="stopping", raises="Stopping"),
        "claiming": Plan(),
    }
    idle = Client(victim.port)
    assert idle.send("GET", "/health").status == 200
    with RawConnection(victim.port) as arriving:
        length = (b"Content-Length", b"4")
        arriving.write(raw_request([*runs["arriving"].raw_fields(), length], b"{}"))
        sent = {name: site.start(runs[name], plan, to=victim) for name, plan in plans.items()}
        site.gates.wait_for_arrival(claiming)
        for name in ("returning", "stopping"):
            site.wait_for_start(runs[name])
        victim.terminate()
        signalled = time.monotonic()
        answers = {"stopping": sent["stopping"].result()}
        released = time.monotonic() - signalled
        retries = {"stopping": site.deliver(runs["stopping"])}
        site.gates.wait_for_arrival(returning)
        late = send_if_open(idle, runs["late"])
        arriving.write(b"{}")
        answers["arriving"] = arriving.answer()
        site.gates.open(claiming)
        answers["claiming"] = sent["claiming"].result()
        retries["returning"] = site.deliver(runs["returning"])
    site.gates.open(returning)
    answers["returning"] = sent["returning"].result()
    idle.close()
    status, seconds = victim.wait_for_exit()
    claimed = [name for name, gate in asking.items() if site.gates.has_stopped_somebody(gate)]
    for gate in asking.values():
        site.gates.open(gate)
    for name in ("claiming", "arriving", "late"):
        retries[name] = site.deliver(runs[name])
    return Shutdown(runs, answers, retries, late, claimed, released, status, seconds)


class TestAfterSigterm:
    def test_a_job_that_returns_has_completed_its_run(self, site: Site, shutdown: Shutdown) -> None:
        """R27: nothing is released while the work goes on."""
        run = shutdown.runs["returning"]
        assert shutdown.answers["returning"].outcome == (200, "processed")
        assert shutdown.retries["returning"].outcome == (409, "in_progress")
        assert site.deliver(run).outcome == (200, "duplicate")
        [end] = site.effects.ends(run.run_id)
        assert end.stopping
        assert not end.lost

    def test_a_job_that_stops_makes_way_at_once(self, site: Site, shutdown: Shutdown) -> None:
        """R27, R21: released within 2 s, so that another server need not wait for the lease."""
        assert shutdown.answers["stopping"].outcome == (500, "failed")
        assert shutdown.retries["stopping"].outcome == (200, "processed")
        assert shutdown.released < 2
        starts = site.effects.starts(shutdown.runs["stopping"].run_id)
        assert [one.recovered for one in starts] == [False, False]

    def test_a_claim_won_just_then_is_released_unrun(self, site: Site, shutdown: Shutdown) -> None:
        """R27."""
        assert shutdown.answers["claiming"].outcome == (500, "unavailable")
        assert shutdown.retries["claiming"].outcome == (200, "processed")
        [start] = site.effects.starts(shutdown.runs["claiming"].run_id)
        assert not start.recovered

    def test_a_delivery_whose_body_comes_later_is_not_claimed(self, shutdown: Shutdown) -> None:
        """R27: no new claims."""
        assert shutdown.answers["arriving"].outcome == (500, "unavailable")
        assert shutdown.retries["arriving"].outcome == (200, "processed")
        assert "arriving" not in shutdown.claimed

    def test_a_delivery_on_an_open_connection_is_refused(self, shutdown: Shutdown) -> None:
        """R27: if the server has not closed the connection before."""
        assert shutdown.late is None or shutdown.late.outcome == (500, "unavailable")
        assert shutdown.retries["late"].outcome == (200, "processed")
        assert "late" not in shutdown.claimed

    def test_the_server_ends_by_itself_when_the_work_is_done(self, shutdown: Shutdown) -> None:
        """R27: before Cloud Run's SIGKILL after 10 s."""
        assert shutdown.status in (0, -signal.SIGTERM)
        assert shutdown.seconds < 8


def test_a_job_that_ignores_the_signal_is_taken_over_after_the_platforms_kill(
    site: Site, run: Scheduled
) -> None:
    """R27, R28, bug row 51: its lease is renewed while it works, and ends when it is killed."""
    victim = site.victim()
    site.gates.close(run.job_name)
    sent = site.start(run, Plan(until="stopping", gate=run.job_name), to=victim, settings=QUICK)
    site.wait_for_start(run)
    victim.terminate()
    site.gates.wait_for_arrival(run.job_name)
    signalled = site.record(run.run_id)
    assert signalled is not None

    def is_renewed() -> bool:
        record = site.record(run.run_id)
        return record is not None and record.stamp.version != signalled.stamp.version

    eventually("the lease is renewed", is_renewed)
    victim.kill()
    wait([sent])
    site.gates.open(run.job_name)
    assert site.deliver_until_free(run).outcome == (200, "processed")
    assert [one.recovered for one in site.effects.starts(run.run_id)] == [False, True]
