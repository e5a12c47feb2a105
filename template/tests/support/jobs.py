"""A job for tests: the delivery's body says what it does, and a file keeps what it did."""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from app.dedup import (
    Attempt,
    ClaimLost,
    GiveUp,
    JobResult,
    OutcomeUnknown,
    StepAttempt,
    Stopping,
)
from app.dedup.runner import Job
from tests.support.servers.gates import PATIENCE, Gates

_EXCEPTIONS: Final[dict[str, type[BaseException]]] = {
    kind.__name__: kind
    for kind in (
        ClaimLost,
        GiveUp,
        OutcomeUnknown,
        Stopping,
        ValueError,
        SystemExit,
        KeyboardInterrupt,
        GeneratorExit,
        asyncio.CancelledError,
    )
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What the job does, in this order.

    Attributes:
        until: Wait for this event of the attempt: `lost` or `stopping`.
        gate: Go through this gate.
        raises: Raise the exception of this name.
        result: Return this.
        asynchronous: Do it all in a coroutine.
    """

    until: str = ""
    gate: str = ""
    raises: str = ""
    result: dict[str, Any] | None = None
    asynchronous: bool = False

    def body(self) -> bytes:
        """Return the body of a delivery with this plan."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, body: bytes) -> "Plan":
        """Read the plan from a body; any other body stands for the plan to do nothing."""
        return cls(**json.loads(body)) if body.startswith(b"{") else cls()


@dataclass(frozen=True, slots=True)
class Effect:
    """One start or end of the job, as the effects file keeps it."""

    what: str
    run_id: str
    attempt_id: str
    recovered: bool
    fence: int
    lost: bool
    stopping: bool
    seen: dict[str, Any] = field(default_factory=dict)


class Effects:
    """What the job did in all processes that share the file, in the order in which it did it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, what: str, attempt: StepAttempt, **seen: object) -> None:
        """Add a line. Lines of several processes do not mix: each is one appending write."""
        effect = Effect(
            what,
            attempt.run_id,
            attempt.attempt_id,
            attempt.recovered,
            attempt.fence,
            attempt.lost.is_set(),
            attempt.stopping.is_set(),
            seen,
        )
        with self._path.open("ab", buffering=0) as file:
            file.write(json.dumps(asdict(effect)).encode() + b"\n")

    def all(self, what: str) -> list[Effect]:
        """Return the effects of one kind so far, `start` or `end`."""
        lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        effects = [Effect(**json.loads(line)) for line in lines]
        return [one for one in effects if one.what == what]

    def starts(self, run_id: str) -> list[Effect]:
        """Return one effect for each time that the job began with a run."""
        return [one for one in self.all("start") if one.run_id == run_id]

    def ends(self, run_id: str) -> list[Effect]:
        """Return one effect for each time that the job came to its end."""
        return [one for one in self.all("end") if one.run_id == run_id]


def job(effects: Effects, gates: Gates) -> Job:
    """Return the job's function."""

    def work(attempt: StepAttempt, plan: Plan) -> JobResult:
        if plan.until:
            event = {"lost": attempt.lost, "stopping": attempt.stopping}[plan.until]
            event.wait(PATIENCE)
        if plan.gate:
            gates.go_through(plan.gate)
        effects.add("end", attempt)
        if plan.raises:
            raise _EXCEPTIONS[plan.raises]("as the test wanted it")
        return plan.result

    async def work_later(attempt: StepAttempt, plan: Plan) -> JobResult:
        await asyncio.sleep(0)
        return work(attempt, plan)

    def run(attempt: StepAttempt) -> JobResult | Awaitable[JobResult]:
        effects.add("start", attempt, **_seen(attempt))
        plan = Plan.read(attempt.body)
        return work_later(attempt, plan) if plan.asynchronous else work(attempt, plan)

    return run


def _seen(attempt: StepAttempt) -> dict[str, object]:
    time = attempt.schedule_time if isinstance(attempt, Attempt) else None
    forced = isinstance(attempt, Attempt) and attempt.forced
    return {
        "forced": forced,
        "job_name": attempt.job_name,
        "schedule_time": time and time.isoformat(),
        "project": attempt.project,
        "location": attempt.location,
        "headers": attempt.headers,
        "size": len(attempt.body),
        "digest": hashlib.sha256(attempt.body).hexdigest(),
        "process": os.getpid(),
    }
