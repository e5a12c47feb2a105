"""What goes wrong in a schedule: drawn once, then dealt out by the same dice."""

from dataclasses import dataclass, fields
from random import Random
from typing import Any, Final, Self

from proof.network import Call, Fate, Parcel
from proof.world import Machine, World

_RATES: Final = (0.01, 0.05, 0.2)
_CALM, _ONE_CRASH = 0.05, 0.1


@dataclass(frozen=True, slots=True)
class Mix:
    """How likely each fault is: of a call, unless said otherwise.

    Attributes:
        lost_request: It never reaches the store.
        lost_answer: The store does it, and nobody hears of that.
        late: It reaches the store when its sender has stopped waiting.
        refused: The store refuses it.
        slow: It takes long, though not too long.
        still: Its machine stands still, before it is sent or while it is under way.
        cut: Its machine cannot reach the store for a while.
        crash: Its machine dies, before or after the store has done it.
        crash_at_work: A machine dies while a job is at work; of a delivery.
        sigterm: A machine shuts down; of a delivery.
        lost_delivery: A delivery never arrives.
        lost_response: What a delivery was answered never arrives.
        one_crash: The first delivery's machine dies, and nothing else ever goes wrong.
    """

    lost_request: float = 0.0
    lost_answer: float = 0.0
    late: float = 0.0
    refused: float = 0.0
    slow: float = 0.0
    still: float = 0.0
    cut: float = 0.0
    crash: float = 0.0
    crash_at_work: float = 0.0
    sigterm: float = 0.0
    lost_delivery: float = 0.0
    lost_response: float = 0.0
    one_crash: bool = False

    @classmethod
    def draw(cls, dice: Random) -> Self:
        """Draw which faults there are: few kinds often meet more than all kinds at once do."""
        kind = dice.random()
        if kind < _CALM:
            return cls()
        if kind < _ONE_CRASH:
            return cls(one_crash=True)
        rates = [field.name for field in fields(cls) if field.name != "one_crash"]
        drawn: dict[str, Any] = {name: dice.choice(_RATES) for name in rates if dice.random() < 0.3}
        return cls(**drawn)


class DicedNetwork:
    """A network whose faults are drawn. It never loses a call without a fault to blame."""

    def __init__(self, world: World, dice: Random, mix: Mix, lease: float) -> None:
        self._world = world
        self._dice = dice
        self._lease = lease
        self._cut: dict[Machine, float] = {}
        self.become(mix)

    def become(self, mix: Mix) -> None:
        """Have other faults from now on."""
        self._mix = mix
        self._cut.clear()
        calls = [
            (mix.lost_request, Fate.LOST_REQUEST),
            (mix.lost_answer, Fate.LOST_ANSWER),
            (mix.late, Fate.LATE),
            (mix.refused, Fate.REFUSED),
        ]
        self._fates = [(rate, fate) for rate, fate in calls if rate]
        self._machines = bool(mix.still or mix.cut or mix.crash)

    def carry(self, machine: Machine, call: Call) -> object:
        """Carry a call, as the dice will have it."""
        if self._machines:
            self._strike(machine)
        parcel = Parcel(machine, call)
        fate = self._fate(machine, call)
        parcel.tell(call.what if fate is Fate.FINE else f"{call.what}: {fate}")
        if fate is not Fate.FINE:
            self._world.counts[fate] += 1
            parcel.errand.disturbed = True
        self._send(parcel, fate)
        return parcel.wait()

    def _fate(self, machine: Machine, call: Call) -> Fate:
        if self._cut and self._cut.get(machine, 0.0) > self._world.now:
            return self._dice.choice((Fate.LOST_REQUEST, Fate.LOST_ANSWER))
        if self._fates:
            roll = self._dice.random()
            for rate, fate in self._fates:
                if roll < rate:
                    # Whether a read arrives when nobody listens makes no difference.
                    return Fate.LOST_REQUEST if fate is Fate.LATE and not call.writes else fate
                roll -= rate
        return Fate.FINE

    def _send(self, parcel: Parcel, fate: Fate) -> None:
        dice, after, limit = self._dice, self._world.after, parcel.call.limit
        most = limit * (0.45 if self._mix.slow and dice.random() < self._mix.slow else 0.01)
        there, back = dice.random() * most, dice.random() * most
        if fate is Fate.FINE:
            after(there, lambda: parcel.arrive(back))
        elif fate is Fate.REFUSED:
            after(there + back, parcel.refuse)
        else:
            # A broken connection shows at once, silence only at the limit.
            noticed = limit if dice.random() < 0.5 else there + back
            after(noticed, parcel.fail)
            if fate is Fate.LOST_ANSWER:
                after(there, lambda: parcel.arrive(None))
            elif fate is Fate.LATE:
                late = dice.random() * dice.choice((0.1, limit, self._lease, 2 * self._lease))
                after(noticed + late, lambda: parcel.arrive(None))

    def _strike(self, machine: Machine) -> None:
        """Let misfortune befall the machine of a call."""
        dice, mix, world = self._dice, self._mix, self._world
        if mix.crash and dice.random() < mix.crash:
            world.counts["crash"] += 1
            world.after(dice.random() * 0.06, machine.die)
        if mix.cut and dice.random() < mix.cut:
            world.counts["cut off"] += 1
            self._cut[machine] = world.now + self._while()
            machine.troubled = max(machine.troubled, self._cut[machine])
        if mix.still and dice.random() < mix.still:
            world.counts["standstill"] += 1
            if dice.random() < 0.5:
                machine.stand_still(self._while())
                machine.sleep(0.0)
            else:
                seconds = self._while()
                world.after(dice.random() * 0.06, lambda: machine.stand_still(seconds))

    def _while(self) -> float:
        """Return how long something lasts: most of the interesting lengths are near a lease's."""
        return self._dice.choice((0.5, 2.0, 0.9 * self._lease, 1.1 * self._lease, 3 * self._lease))
