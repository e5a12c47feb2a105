"""Virtual time, and processes that take turns in it.

The protocol's code is synchronous and runs unchanged: each process is a greenlet, which gives
control back where the code waits, and nowhere else. So an order of events is all of a schedule.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final

from app.shutdown import Shutdown
from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from proof.errand import Errand

START: Final = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)
"""The true time at which each schedule begins."""

_MOST_EVENTS: Final = 20_000

Teller = Callable[[float, str, str], None]
"""Is told when something happens, to whom, and what."""


class Gone(BaseException):
    """The machine of this process has died: nothing that the process does has an effect."""


class Endless(Exception):
    """A schedule does not end: some hundred events are usual."""


class World:
    """All that is going to happen, in order.

    Attributes:
        now: True time, in seconds since `START`.
        tell: Keeps the story, where one is wanted.
        counts: How often what has happened.
        stopped: Set to end the run after the present event.
    """

    def __init__(self, tell: Teller | None = None) -> None:
        self.now = 0.0
        self.tell = tell
        self.counts: Counter[str] = Counter()
        self.stopped = False
        self.hub = getcurrent()
        self._queue: list[tuple[float, int, Callable[[], object]]] = []
        self._number = 0

    def time(self) -> datetime:
        """Return the true time."""
        return START + timedelta(seconds=self.now)

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Let something happen later; what is due at one moment keeps its order."""
        self._number += 1
        heappush(self._queue, (self.now + seconds, self._number, action))

    def due(self) -> float | None:
        """Return when the next event is due, None if there is none."""
        return self._queue[0][0] if self._queue else None

    def step(self) -> None:
        """Let the next event happen."""
        self.now, _, action = heappop(self._queue)
        action()

    def run(self) -> None:
        """Let everything happen.

        Raises:
            Endless: it goes on and on.
        """
        queue = self._queue
        for _ in range(_MOST_EVENTS):
            if not queue or self.stopped:
                return
            self.now, _, action = heappop(queue)
            action()
        raise Endless


class Machine:
    """What one instance runs on: its clocks, its threads, and its misfortunes.

    Attributes:
        skew: Seconds by which its wall clock is wrong.
        still_until: It stands still until then, like a process that gets no CPU.
        troubled: Until when it was last in trouble: standing still, cut off or shutting down.
        shutdown: Whether the instance on it shuts down.
    """

    def __init__(self, world: World, name: str, skew: float = 0.0) -> None:
        self.world = world
        self.name = name
        self.skew = skew
        self.alive = True
        self.still_until = 0.0
        self.troubled = -1.0
        self.shutdown = Shutdown()
        self.processes: list[Process] = []

    def now(self) -> datetime:
        """Return what its wall clock shows."""
        return START + timedelta(seconds=self.world.now + self.skew)

    def monotonic(self) -> float:
        """Return seconds that nobody sets."""
        return self.world.now

    def sleep(self, seconds: float) -> None:
        """Let the present process wait."""
        Wait(self).until(seconds)

    def event(self) -> "Event":
        """Make an event for its processes."""
        return Event(self)

    def beside(self, name: str, function: Callable[[], object]) -> "Process":
        """Start a process beside the present one, on the same errand."""
        return self.start(name, function, present().errand)

    def start(self, name: str, function: Callable[[], object], errand: "Errand") -> "Process":
        """Start a process on an errand."""
        process = Process(self, name, function, errand)
        self.processes.append(process)
        self.world.after(0.0, process.begin)
        return process

    def stand_still(self, seconds: float) -> None:
        """Let nothing happen here for some seconds."""
        self.still_until = max(self.still_until, self.world.now + seconds)
        self.troubled = max(self.troubled, self.still_until)
        if self.world.tell:
            self.world.tell(self.world.now, self.name, f"stands still for {seconds:.3f} s")

    def die(self) -> None:
        """End, as by SIGKILL. An event of the world: no process here can be at work meanwhile."""
        self.alive = False
        for process in [*self.processes]:
            if process:  # It has begun, and is not over.
                process.throw(Gone)

    def put_off(self, action: Callable[[], object]) -> bool:
        """Let an event wait that reaches a machine that stands still; tell whether it does."""
        waits = self.still_until > self.world.now
        if waits:
            self.world.after(self.still_until - self.world.now, action)
        return waits


class Process(greenlet):
    """One thread of a machine. `errand` is what it is at work for."""

    def __init__(
        self, machine: Machine, name: str, function: Callable[[], object], errand: "Errand"
    ) -> None:
        super().__init__(self._main, machine.world.hub)
        self.machine = machine
        self.name = name
        self.errand = errand
        self._function = function
        self._over = machine.event()

    def begin(self) -> None:
        """Run until it waits for the first time."""
        if self.machine.alive and not self.machine.put_off(self.begin):
            self.switch()

    def join(self, timeout: float) -> None:
        """Let the present process wait until this one is over."""
        self._over.wait(timeout)

    def _main(self) -> None:
        try:
            self._function()
        except Gone:
            return
        self.machine.processes.remove(self)
        self._over.set()


class Wait:
    """What the present process waits for. Whatever ends it first decides its value."""

    __slots__ = ("_machine", "_over", "_process")

    def __init__(self, machine: Machine) -> None:
        if not machine.alive:
            raise Gone
        self._machine = machine
        self._process = getcurrent()
        self._over = False

    def end(self, value: object) -> None:
        """End it; this is an event of the world."""
        machine = self._machine
        if self._over or not machine.alive or machine.put_off(partial(self.end, value)):
            return
        self._over = True
        self._process.switch(value)

    def until(self, timeout: float) -> object:
        """Wait; return False if nothing ends it in time."""
        self._machine.world.after(max(0.0, timeout), partial(self.end, False))
        return self.value()

    def value(self) -> object:
        """Wait for as long as it takes."""
        return self._machine.world.hub.switch()


class Event:
    """What `app.dedup.threads.Event` is, in virtual time."""

    __slots__ = ("_machine", "_set", "_waits")

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._set = False
        self._waits: list[Wait] = []

    def set(self) -> None:
        """Wake who waits."""
        self._set = True
        for wait in self._waits:
            self._machine.world.after(0.0, partial(wait.end, True))
        self._waits.clear()

    def wait(self, timeout: float) -> bool:
        """Wait until it is set; return whether it is."""
        if not self._set:
            wait = Wait(self._machine)
            self._waits.append(wait)
            wait.until(timeout)
        return self._set


def present() -> Process:
    """Return the process that is at work; inside an event of the world there is none."""
    process: Any = getcurrent()
    return process  # type: ignore[no-any-return]
