"""A Cloud Scheduler: it delivers each run until it gets a 2xx, and some of them too often."""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from select import select

from app.dedup.delivery import JobScope, Trigger, read_delivery
from tests.support.servers.process import SERVICE

_DEADLINE = 8.0
_PATIENCE = 180.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class Planned:
    """A run, and how it is delivered.

    Attributes:
        forced: It carries a time that is still ahead.
        seconds: How long the job works.
        fails: How probably the job fails, each time.
        twins: Deliveries at once beyond the first.
        late: Deliveries after the run is done.
        cut: How probably a delivery's connection is cut before its answer is read.
    """

    job_name: str
    schedule_time: str
    forced: bool
    seconds: float
    fails: float
    twins: int
    late: int
    cut: float

    def headers(self) -> dict[str, str]:
        """Return what Cloud Scheduler sends."""
        return {
            "X-CloudScheduler-JobName": self.job_name,
            "X-CloudScheduler-ScheduleTime": self.schedule_time,
        }

    def run_id(self, trigger: Trigger | None = None) -> str:
        """Return the run's key, or that of the same time's other run."""
        mine = Trigger.FORCED if self.forced else Trigger.SCHEDULED
        named = {name.lower(): (value,) for name, value in self.headers().items()}
        return read_delivery(named, "/", {}, JobScope.NONE).run_id(SERVICE, trigger or mine)


def plan(number: int, chance: random.Random, lease: float) -> Planned:
    """Make up a run."""
    forced = chance.random() < 0.05
    now = datetime.now(UTC)
    return Planned(
        job_name=f"job-{number}",
        schedule_time=(now + timedelta(hours=1) if forced else now).isoformat(),
        forced=forced,
        # Most work is short; some of it outlives its lease, which is renewed.
        seconds=chance.uniform(0, 0.1) if chance.random() < 0.9 else chance.uniform(0, 1.5 * lease),
        fails=chance.choice((0.0, 0.0, 0.0, 0.3)),
        twins=chance.choice((0, 0, 0, 1, 1, 2)),
        late=chance.choice((0, 0, 1)),
        cut=chance.choice((0.0, 0.0, 0.5)),
    )


@dataclass
class Told:
    """What was sent, and what came back. `answered` is when a run's first 2xx came."""

    deliveries: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    answered: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, answer: str) -> None:
        """Count a delivery and what became of it."""
        with self.lock:
            self.deliveries += 1
            self.answers[answer] += 1


class Scheduler:
    """Delivers runs to whichever server is there."""

    def __init__(self, ports: Callable[[], Sequence[int]], told: Told) -> None:
        self._ports = ports
        self._told = told

    def deliver(self, run: Planned, seed: int) -> None:
        """Deliver a run until it is done, and then as often as planned."""
        chance = random.Random(seed)
        twins = [
            threading.Thread(target=self._once, args=(run, random.Random(seed + 1 + number)))
            for number in range(run.twins)
        ]
        for twin in twins:
            twin.start()
        self._until_done(run, chance)
        for twin in twins:
            twin.join()
        for _ in range(run.late):
            time.sleep(chance.uniform(0, 0.2))
            answer = self._once(run, chance)
            if answer not in ("200 duplicate", "none") and not answer.startswith("500"):
                self._told.wrong.append(f"{run.job_name} was done, and answered with {answer}")

    def _until_done(self, run: Planned, chance: random.Random) -> None:
        end = time.monotonic() + _PATIENCE
        pause = _FIRST_PAUSE
        while time.monotonic() < end:
            if self._once(run, chance).startswith("2"):
                self._told.answered.setdefault(run.run_id(), time.time())
                return
            time.sleep(chance.uniform(0.5, 1.0) * pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._told.wrong.append(f"{run.job_name} was never answered with 200")

    def _once(self, run: Planned, chance: random.Random) -> str:
        """Make one delivery, and return its status and outcome, or `none`."""
        cut = chance.random() < run.cut
        patience = chance.uniform(0, 0.3) if cut else _DEADLINE
        answer = _send(chance.choice(self._ports()), run, patience, unread=cut)
        self._told.count(answer)
        return answer


def _send(port: int, run: Planned, patience: float, *, unread: bool) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_DEADLINE)
    try:
        body = json.dumps({"seconds": run.seconds, "fails": run.fails})
        connection.request("POST", "/", body, run.headers())
        ready, _, _ = select([connection.sock], [], [], patience)
        if unread or not ready:
            return "none"
        response = connection.getresponse()
        return f"{response.status} {json.loads(response.read()).get('outcome', '')}"
    except (OSError, ValueError, http.client.HTTPException):
        return "none"
    finally:
        connection.close()
