"""Every schedule of two attempts at one run, up to a number of faults.

The schedule of two attempts is a sequence of choices: whose call reaches the store next, or does
time pass; and what becomes of each call. They are enumerated depth first, each schedule played
from its beginning. After the two, a last delivery comes when every lease is over, and has to
complete the run.

A call arrives in the instant in which it was sent, unless it is slow, which is a fault like any
other: then time passes first. So the order of calls in one instant is free, and what takes time is
chosen.

Left out is only what makes no difference. A read is lost on one of its two ways, and the second
delivery arrives at the beginning of an instant: whether before or after an act of the store in the
same instant, it is its first call that counts, and that is free.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from proof.choices import Choices, Path
from proof.errand import End, Errand, Plan
from proof.network import Call, Parcel
from proof.site import Setup, Site, StoreKind, run_id_of
from proof.verdict import Verdict
from proof.world import Machine, Teller, World

LEASE: Final = 5.0
"""Seconds: so short that two lost renewals outlast it."""

_SETTLE: Final = 30.0
_MOMENT: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Case:
    """What the first attempt's job does: it works for so many seconds, and ends like this."""

    store: StoreKind
    works: float
    end: End


CASES: Final = tuple(
    Case(store, works, end)
    for works in (0.0, 2.0)  # Without a renewal, and with one.
    for end in (End.RETURNS, End.RAISES, End.UNKNOWN)
    for store in (StoreKind.FIRESTORE, StoreKind.REDIS)
)


class ChosenNetwork:
    """A network in which each call waits until a choice sends it on.

    Attributes:
        under_way: The calls that reach the store when a choice says so, each with the instant of
            its sending if it is slow.
        late: The calls that nobody waits for any more.
        left: So many more faults there can be.
        instant: Rises when time passes.
        calm: Calls arrive at once.
    """

    def __init__(self, world: World, path: Path, faults: int) -> None:
        self.under_way: dict[Parcel, int | None] = {}
        self.late: list[Parcel] = []
        self.left = faults
        self.instant = 0
        self.calm = False
        self._world = world
        self._path = path

    def carry(self, machine: Machine, call: Call) -> object:
        """Carry a call, as the path says."""
        parcel = Parcel(machine, call)
        if self.calm:
            self._world.after(0.0, partial(parcel.arrive, 0.0))
            return parcel.wait()
        fates: list[Callable[[Parcel], None]] = [self._send]
        if self.left:
            fates += [self._lose, self._slow, self._crash]
            if call.writes:
                fates.append(self._delay)
        fate = fates[self._path.choose(len(fates))]
        if fate is not fates[0]:
            self.fault(parcel, fate.__name__.strip("_"))
        fate(parcel)
        return parcel.wait()

    def fault(self, parcel: Parcel, what: str) -> None:
        """Count a fault that befalls a call."""
        self.left -= 1
        parcel.errand.disturbed = True
        self._world.counts[what] += 1
        parcel.tell(f"{parcel.call.what}: {what}")

    def can_arrive(self) -> list[Parcel]:
        """Return the calls that can reach the store in this instant."""
        return [
            parcel
            for parcel, slow_since in self.under_way.items()
            if parcel.machine.alive and (slow_since is None or slow_since < self.instant)
        ]

    def can_pass_time(self, until: float) -> bool:
        """Tell whether no call has to arrive before."""
        return all(
            slow_since is not None and until < parcel.ends
            for parcel, slow_since in self.under_way.items()
            if parcel.machine.alive
        )

    def _send(self, parcel: Parcel) -> None:
        self.under_way[parcel] = None

    def _slow(self, parcel: Parcel) -> None:
        self.under_way[parcel] = self.instant
        # There is a moment at which it can arrive, whatever else takes time.
        self._world.after(parcel.call.limit / 2, lambda: None)

    def _lose(self, parcel: Parcel) -> None:
        self._world.after(parcel.call.limit, parcel.fail)

    def _delay(self, parcel: Parcel) -> None:
        self._lose(parcel)
        self.late.append(parcel)

    def _crash(self, parcel: Parcel) -> None:
        self._world.after(0.0, parcel.machine.die)
        self._world.after(LEASE + 1.0, lambda: None)


class Explorer:
    """One schedule of a case."""

    def __init__(self, case: Case, faults: int, path: Path, tell: Teller | None = None) -> None:
        self._path = path
        self.world = world = World(tell)
        self._network = ChosenNetwork(world, path, faults)
        self._setup = Setup(case.store, LEASE, 0.0, 60.0, separate=True)
        self._site = Site(world, self._setup, self._network)
        first = Plan((case.works,) if case.works else (), obeys=True, end=case.end)
        self._first = Errand("#1", self._site.add(), 0.0, first)
        self._second = Errand("#2", self._site.add(), 0.0, Plan())
        self._arrived = False
        self._begins = True

    def play(self) -> str | None:
        """Play it; return the first promise that was broken, None if none was."""
        site, world = self._site, self.world
        try:
            site.deliver(self._first, lambda: None)
            while not world.stopped and (options := self._options()):
                options[self._path.choose(len(options)) if len(options) > 1 else 0]()
            if self._network.can_arrive() and not world.stopped:
                raise RuntimeError("a call is under way for which there was no choice")
            self._network.calm = True
            if not site.oracle.is_final(run_id_of(0.0)):
                last = Errand("#3, the last", site.add(), 0.0, Plan())
                world.after(_SETTLE + 0.001, lambda: site.deliver(last, lambda: None))
            world.run()
            site.oracle.finished(run_id_of(0.0), "a run was delivered after its lease in vain")
            return site.oracle.violation
        finally:
            site.close()

    def _options(self) -> list[Callable[[], object]]:
        """Return what can happen next."""
        world, network = self.world, self._network
        while (due := world.due()) is not None and due <= world.now and not world.stopped:
            world.step()
        options: list[Callable[[], object]] = []
        for parcel in network.can_arrive():
            options += self._arrivals(parcel)
        for parcel in network.late:
            if parcel.ends <= world.now:
                options.append(partial(self._arrive_late, parcel))
        if self._begins and not self._arrived:
            options.append(self._arrive)
        if due is not None and network.can_pass_time(due):
            options.append(self._pass_time)
        return options

    def _arrivals(self, parcel: Parcel) -> Iterator[Callable[[], object]]:
        yield partial(self._answer, parcel)
        if self._network.left:
            if parcel.call.writes:
                yield partial(self._lose_answer, parcel)
                yield partial(self._crash_after, parcel)
            yield partial(self._stand_still, parcel)

    def _arrive(self) -> None:
        self._arrived = True
        self._site.deliver(self._second, lambda: None)

    def _pass_time(self) -> None:
        self._network.instant += 1
        self._begins = True
        self.world.step()

    def _act(self, parcel: Parcel, back: float | None) -> None:
        """Let a call reach the store, which takes a moment."""
        self._begins = False
        self._network.under_way.pop(parcel, None)
        due = self.world.due()
        moment = self.world.now + _MOMENT
        self.world.now = moment if due is None else min(moment, due)
        parcel.arrive(back)

    def _answer(self, parcel: Parcel) -> None:
        parcel.tell(parcel.call.what)
        self._act(parcel, 0.0)

    def _lose_answer(self, parcel: Parcel) -> None:
        self._network.fault(parcel, "lose the answer")
        self._act(parcel, None)
        self.world.after(parcel.ends - self.world.now, parcel.fail)

    def _crash_after(self, parcel: Parcel) -> None:
        self._network.fault(parcel, "crash after")
        self._act(parcel, None)
        parcel.machine.die()
        self.world.after(LEASE + 1.0, lambda: None)

    def _stand_still(self, parcel: Parcel) -> None:
        self._network.fault(parcel, "stand still after")
        self._act(parcel, 0.0)
        parcel.machine.stand_still(LEASE + 2.0)
        # There is a moment before it wakes when the lease is over.
        self.world.after(LEASE + 1.0, lambda: None)

    def _arrive_late(self, parcel: Parcel) -> None:
        self._network.late.remove(parcel)
        parcel.tell(f"{parcel.call.what}: arrives")
        self._act(parcel, None)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A schedule of two attempts: a case by its number, the most faults, and the first choices."""

    case: int
    faults: int
    choices: Choices = ()

    @property
    def command(self) -> str:
        """Return the command that tells its story."""
        choices = ".".join(map(str, self.choices))
        return f"make enumerate-proof FAULTS={self.faults} REPLAY={self.case}:{choices}"

    def play(self, tell: Teller | None = None) -> Verdict:
        """Play it."""
        return self._play(Path(self.choices), tell)

    def all(self) -> Iterator[Verdict]:
        """Play every schedule that begins with these choices."""
        path: Path | None = Path(self.choices)
        while path is not None:
            yield self._play(path)
            path = path.next(len(self.choices))

    def parts(self, depth: int) -> "Iterator[Chosen]":
        """Yield what these schedules begin with: each of them with exactly one."""
        path: Path | None = Path(self.choices)
        while path is not None:
            self._play(path)
            path.cut(depth)
            yield replace(self, choices=path.taken)
            path = path.next(len(self.choices))

    def _play(self, path: Path, tell: Teller | None = None) -> Verdict:
        explorer = Explorer(CASES[self.case], self.faults, path, tell)
        violation = explorer.play()
        world = explorer.world
        return Verdict(replace(self, choices=path.taken), violation, world.counts, world.now)
