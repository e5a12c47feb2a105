"""One schedule: everything that one seed decides, played to its end."""

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Final

from proof.errand import End
from proof.faults import DicedNetwork, Mix
from proof.oracle import FORCED_MARGIN, LONGEST_SETTLE
from proof.scheduler import INTERVAL, Scheduler
from proof.site import Setup, Site, StoreKind, run_id_of
from proof.world import Teller, World

_STORES: Final = tuple(StoreKind)
_TIMES: Final = ((5.0, 15.0), (20.0, 60.0), (60.0, 60.0), (60.0, 180.0))


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a schedule ended. `violation` is None if every promise was kept."""

    seed: int
    violation: str | None
    counts: Counter[str]
    seconds: float


def play(seed: int, tell: Teller | None = None) -> Verdict:
    """Play the schedule of a seed."""
    dice = Random(seed)  # noqa: S311 what is drawn has to be drawn again
    lease, timeout = dice.choice(_TIMES)
    settle = dice.choice((0.0, 0.0, LONGEST_SETTLE))
    setup = Setup(dice.choice(_STORES), lease, settle, timeout, separate=dice.random() < 0.7)
    mix = Mix.draw(dice)
    world = World(tell)
    network = DicedNetwork(world, dice, mix, setup.whole_lease)
    site = Site(world, setup, network)
    scheduler = Scheduler(site, dice, mix)
    if tell:
        tell(0.0, "setup", f"{setup}")
        tell(0.0, "setup", f"{mix}")
    dues = [0.0]
    scheduler.schedule(0.0)
    if dice.random() < 0.3:
        for _ in range(dice.randint(1, 2)):
            world.counts["forced"] += 1
            scheduler.force(dice.random() * INTERVAL, INTERVAL)
        scheduler.schedule(INTERVAL)
        dues.append(INTERVAL)
    try:
        world.run()
        network.become(Mix())
        _close(site, scheduler, dues, one_crash=mix.one_crash)
        return Verdict(seed, site.oracle.violation, world.counts, world.now)
    finally:
        site.close()


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
            lambda due=due: scheduler.close(due),
        )
    world.run()
    for due in left:
        oracle.finished(run_id_of(due), "a run was delivered after its lease and not completed")
