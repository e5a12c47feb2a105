"""One schedule: everything that one seed decides, played to its end."""

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from proof.faults import DicedNetwork, Mix
from proof.oracle import LONGEST_SETTLE
from proof.scheduler import INTERVAL, Scheduler
from proof.site import Setup, Site, StoreKind, run_id_of
from proof.verdict import Verdict
from proof.world import Endless, Teller, World

# Redis costs twice as much, and its scripts leave less to interleave.
_STORES: Final = (*[StoreKind.FIRESTORE] * 4, *[StoreKind.SPANNER] * 3, StoreKind.REDIS)
_TIMES: Final = ((5.0, 15.0), (20.0, 60.0), (60.0, 60.0), (60.0, 180.0))


@dataclass(frozen=True, slots=True)
class Seed:
    """A schedule that is drawn: by its number, every time the same."""

    number: int

    @property
    def command(self) -> str:
        """Return the command that tells its story."""
        return f"make simulate-proof RUNS=1 SEED={self.number}"

    def play(self, tell: Teller | None = None) -> Verdict:
        """Play it."""
        dice = Random(self.number)  # noqa: S311 what is drawn has to be drawn again
        setup, mix = _setup(dice), Mix.draw(dice)
        world = World(tell)
        network = DicedNetwork(world, dice, mix, setup.whole_lease)
        site = Site(world, setup, network)
        scheduler = Scheduler(site, dice, mix)
        if tell:
            tell(0.0, "setup", f"{setup}")
            tell(0.0, "setup", f"{mix}")
        try:
            dues = _plan(scheduler, dice, world)
            world.run()
            network.become(Mix())
            _close(site, scheduler, dues, one_crash=mix.one_crash)
        except Endless:
            site.oracle.broken("it does not end")
        finally:
            site.close()
        return Verdict(self, site.oracle.violation, world.counts, world.now)


def _setup(dice: Random) -> Setup:
    lease, timeout = dice.choice(_TIMES)
    settle = dice.choice((0.0, 0.0, LONGEST_SETTLE))
    return Setup(dice.choice(_STORES), lease, settle, timeout, separate=dice.random() < 0.7)


def _plan(scheduler: Scheduler, dice: Random, world: World) -> list[float]:
    """Let a run be delivered, sometimes also the next, forced before; return when they are due."""
    scheduler.schedule(0.0)
    if dice.random() >= 0.2:
        return [0.0]
    for _ in range(dice.randint(1, 2)):
        world.counts["forced"] += 1
        scheduler.force(dice.random() * INTERVAL, INTERVAL)
    scheduler.schedule(INTERVAL)
    return [0.0, INTERVAL]


def _close(site: Site, scheduler: Scheduler, dues: list[float], *, one_crash: bool) -> None:
    """Let every run that is not final be delivered once more, when each lease is over (R28)."""
    world, oracle = site.world, site.oracle
    if one_crash:
        for due in dues:
            oracle.finished(run_id_of(due), "one crash, and the retries did not complete the run")
    left = [due for due in dues if not oracle.is_final(run_id_of(due))]
    for due in left:
        world.counts["left for a last delivery"] += 1
        world.after(
            max(site.setup.whole_lease, LONGEST_SETTLE) + 0.001,
            partial(scheduler.close, due),
        )
    world.run()
    for due in left:
        oracle.finished(run_id_of(due), "a run was delivered after its lease and not completed")
