"""What is to be simulated: the runs, and what shall go wrong with each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum


class Fault(Enum):
    """What goes wrong with one attempt. The values are the names on the command line."""

    LOST_ANSWER = "lost-answer"
    LATE_ANSWER = "late-answer"
    KILL_AFTER_CLAIM = "after-claim"
    KILL_IN_JOB = "in-job"
    KILL_BEFORE_FINISH = "before-finish"


KILLS = (Fault.KILL_AFTER_CLAIM, Fault.KILL_IN_JOB, Fault.KILL_BEFORE_FINISH)
"""The faults that kill the server, in the order in which an attempt passes their points."""


@dataclass(frozen=True)
class PlannedRun:
    """One scheduled or forced run.

    `copies` is how often its first attempt is delivered at once. The first attempt that is claimed
    suffers the first of `faults`, the next one the second, and so on. `trouble` is what goes wrong
    with what is around the service at the first start. `due` and `until` are when the first
    attempt starts and when the retries end, where that has to be waited for.
    """

    title: str
    schedule_time: datetime
    forced: bool = False
    copies: int = 1
    faults: tuple[Fault, ...] = ()
    trouble: str = ""
    due: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Scenario:
    """A telling way to go wrong.

    Attributes:
        name: Its name on the command line.
        title: What happens to its run.
        copies: How often the first attempt is delivered at once.
        faults: What goes wrong with the attempts.
        trouble: What goes wrong with what is around the service (`dev.kinds`); empty for nothing.
        forced: A run is forced ahead of its time, and scheduled then.
        by_default: A simulation without options plays it.
    """

    name: str
    title: str
    copies: int = 1
    faults: tuple[Fault, ...] = ()
    trouble: str = ""
    forced: bool = False
    by_default: bool = False

    @property
    def needs_server_control(self) -> bool:
        """Whether it takes the server's log, its store, its life or what is around it."""
        return bool(self.faults or self.trouble)


SCENARIOS = (
    Scenario("duplicates", "delivered 3 times at once", copies=3, by_default=True),
    Scenario("lost-answer", "its answer gets lost", faults=(Fault.LOST_ANSWER,), by_default=True),
    Scenario("late-answer", "answered after the deadline", faults=(Fault.LATE_ANSWER,)),
    Scenario(
        "crash-after-claim",
        "kill -9 after the claim",
        faults=(Fault.KILL_AFTER_CLAIM,),
        by_default=True,
    ),
    Scenario("crash-in-job", "kill -9 in the work", faults=(Fault.KILL_IN_JOB,)),
    Scenario(
        "crash-before-finish", "kill -9 before the finish", faults=(Fault.KILL_BEFORE_FINISH,)
    ),
    Scenario("forced", "forced ahead of its time", forced=True, by_default=True),
)
"""What can be played with every service; `forced` only where a schedule names the runs."""


def scenario_runs(
    scenarios: Iterable[Scenario], times: Iterator[datetime], forced_time: datetime
) -> list[PlannedRun]:
    """Return the runs that play `scenarios`, with schedule times from `times`.

    The forced run comes first and its scheduled run last, to spend the time between them on the
    others. `forced_time` is the schedule time of both, still ahead.
    """
    chosen = list(dict.fromkeys(scenarios))
    runs = [
        PlannedRun(
            each.title, next(times), copies=each.copies, faults=each.faults, trouble=each.trouble
        )
        for each in chosen
        if not each.forced
    ]
    return runs if len(runs) == len(chosen) else _with_forced(runs, forced_time)


def schedule_runs(
    times: Sequence[datetime], copies: int, faults: tuple[Fault, ...], *, real_time: bool
) -> list[PlannedRun]:
    """Return one run for each of `times`, all with the same faults.

    In `real_time` each waits for its time, and its retries end at the next one.
    """
    trouble = [f"{copies} at once"] if copies > 1 else []
    trouble += [f"kill -9 {fault.value}" if fault in KILLS else fault.value for fault in faults]
    title = ", ".join(trouble) or "as scheduled"
    runs = [PlannedRun(title, time, copies=copies, faults=faults) for time in times]
    if not real_time:
        return runs
    ends = [*times[1:], None]
    return [
        replace(run, due=run.schedule_time, until=end) for run, end in zip(runs, ends, strict=True)
    ]


def with_forced_run(runs: list[PlannedRun], forced_time: datetime) -> list[PlannedRun]:
    """Return `runs` with a forced run first; its scheduled run is among them or comes last."""
    if any(run.schedule_time == forced_time for run in runs):
        return [_forced(forced_time), *runs]
    return _with_forced(runs, forced_time)


def _with_forced(runs: list[PlannedRun], forced_time: datetime) -> list[PlannedRun]:
    after = PlannedRun("the scheduled run after it", forced_time, due=forced_time)
    return [_forced(forced_time), *runs, after]


def _forced(forced_time: datetime) -> PlannedRun:
    return PlannedRun("forced ahead of its time", forced_time, forced=True)
