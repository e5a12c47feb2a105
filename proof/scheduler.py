"""A simulated Cloud Scheduler and what is between it and the instances.

Its retries are the ones that the template derives, timed by the template's own arithmetic (R31).
"""

from dataclasses import dataclass
from random import Random
from typing import Final

from app.backoff import RetryConfig, next_gap
from app.retry_budget import Times, retry_config

from proof.errand import End, Errand, Plan
from proof.faults import Mix
from proof.site import Setup, Site
from proof.world import Machine

INTERVAL: Final = 900.0
"""Seconds between two scheduled times of the job."""

GRACE: Final = 10.0
"""Seconds from SIGTERM to SIGKILL on Cloud Run."""

_SKEWS: Final = (0.0, 0.0, 0.0, 3.0, -3.0, 360.0, -360.0, 86_400.0, -86_400.0)
_MOST_MACHINES: Final = 4


@dataclass(slots=True)
class Try:
    """One try of Cloud Scheduler. It is over with the first thing that is heard of it."""

    due: float
    number: int
    sent: float
    first_sent: float
    over: bool = False


class Scheduler:
    """Sends the deliveries of one schedule."""

    def __init__(self, site: Site, dice: Random, mix: Mix) -> None:
        self._site = site
        self._world = site.world
        self._dice = dice
        self._mix = mix
        self._deliveries = 0
        self._crash_due = mix.one_crash
        self._config = retries_of(site.setup)
        self._skewed = dice.random() < 0.5

    def schedule(self, due: float) -> None:
        """Let a run be delivered at its time."""
        self._world.after(due - self._world.now, lambda: self._first(due))

    def force(self, at: float, due: float) -> None:
        """Let the run that is due then be forced before."""
        self._world.after(at - self._world.now, lambda: self._first(due))

    def close(self, due: float) -> None:
        """Send one delivery that no fault befalls, on a machine that is new."""
        errand = Errand(f"#{self._number()}, the last", self._site.add(), due, Plan())
        self._site.deliver(errand, lambda: None)

    def _first(self, due: float) -> None:
        now = self._world.now
        self._send(Try(due, 0, now, now))
        dice = self._dice
        # A proxy on the way repeats what it is not sure of, at once or much later.
        if dice.random() < 0.3:
            self._world.counts["duplicate at once"] += 1
            self._send(Try(due, 0, now, now, over=True))
        if dice.random() < 0.3:
            self._world.counts["duplicate late"] += 1
            late = dice.random() * dice.choice((self._site.setup.whole_lease, 300.0))
            self._world.after(late, lambda: self._send(Try(due, 0, now, now, over=True)))

    def _send(self, attempt: Try) -> None:
        site, dice, mix = self._site, self._dice, self._mix
        if not attempt.over:
            self._world.after(site.setup.timeout, lambda: self._failed(attempt))
        if mix.lost_delivery and dice.random() < mix.lost_delivery:
            self._world.counts["lost delivery"] += 1
            self._world.after(1.0, lambda: self._failed(attempt))
            return
        errand = Errand(f"#{self._number()}", self._machine(), attempt.due, self._plan())
        lost = bool(mix.lost_response) and dice.random() < mix.lost_response
        self._world.counts["deliveries"] += 1
        self._world.counts["lost response"] += lost

        def answered() -> None:
            if lost:
                self._world.after(0.01, lambda: self._failed(attempt))
            elif errand.answer == 200:
                self._world.after(0.01, lambda: self._done(attempt))
            else:
                self._world.after(0.01, lambda: self._failed(attempt))

        def arrive() -> None:
            if errand.machine.alive:
                site.deliver(errand, answered)
                self._strike(errand, attempt)
            else:
                self._failed(attempt)

        self._world.after(dice.random() * 0.02, arrive)

    def _done(self, attempt: Try) -> None:
        attempt.over = True

    def _failed(self, attempt: Try) -> None:
        """Try again as long as the settings say, and not past the next scheduled time."""
        now = self._world.now
        if attempt.over:
            return
        attempt.over = True
        number = attempt.number + 1
        gap = next_gap(self._config, number, now - attempt.first_sent)
        if gap is None or now + gap >= max(0.0, attempt.due) + INTERVAL:
            return
        again = Try(attempt.due, number, now + gap, attempt.first_sent)
        self._world.after(gap, lambda: self._send(again))

    def _strike(self, errand: Errand, attempt: Try) -> None:
        """Let misfortune befall the machine of a delivery."""
        dice, mix, world, machine = self._dice, self._mix, self._world, errand.machine
        if self._crash_due:
            self._crash_due = False
            self._die(machine, attempt, dice.random() * min(self._site.setup.timeout, 20.0))
        if mix.crash_at_work and dice.random() < mix.crash_at_work:
            self._die(machine, attempt, dice.random() * (sum(errand.plan.sleeps) + 0.1))
        if mix.sigterm and dice.random() < mix.sigterm:
            world.counts["SIGTERM"] += 1
            world.after(dice.random() * (sum(errand.plan.sleeps) + 0.1), lambda: _stop(machine))

    def _die(self, machine: Machine, attempt: Try, seconds: float) -> None:
        self._world.counts["crash"] += 1

        def die() -> None:
            machine.die()
            self._failed(attempt)

        self._world.after(seconds, die)

    def _machine(self) -> Machine:
        dice, site = self._dice, self._site
        alive = [machine for machine in site.machines if machine.alive]
        serving = [machine for machine in alive if not machine.shutdown.begun] or alive
        if not serving or (len(site.machines) < _MOST_MACHINES and dice.random() < 0.4):
            return site.add(dice.choice(_SKEWS) if self._skewed else 0.0)
        return dice.choice(serving)

    def _plan(self) -> Plan:
        dice, setup = self._dice, self._site.setup
        end = End.RETURNS
        length = dice.choice((0.0, 0.1, setup.lease / 2, 1.5 * setup.lease, 0.9 * setup.timeout))
        if self._mix.one_crash:
            # No job takes all the time that a request has.
            length = min(length, 0.9 * setup.timeout)
        elif dice.random() < 0.05:
            length = setup.timeout + dice.random() * 2 * setup.lease
        if not self._mix.one_crash and dice.random() < 0.2:
            end = dice.choice((End.RAISES, End.EXITS, End.GIVES_UP, End.UNKNOWN))
        sleeps = (length * dice.random(), length * dice.random() * 0.1) if length else ()
        return Plan(sleeps, dice.random() < 0.6, end)

    def _number(self) -> int:
        self._deliveries += 1
        return self._deliveries


def retries_of(setup: Setup) -> RetryConfig:
    """Return the retries that the template gives to a job of such a service."""
    return retry_config(Times(setup.timeout, setup.timeout, setup.lease, INTERVAL, setup.settle))


def _stop(machine: Machine) -> None:
    """Shut a machine down, as Cloud Run does."""
    world = machine.world
    machine.troubled = float("inf")
    machine.shutdown.begin()
    if world.tell:
        world.tell(world.now, machine.name, "gets SIGTERM")
    world.after(GRACE, machine.die)
