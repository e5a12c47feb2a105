"""Was each run done exactly once? Judged from the server's events, or from its answers alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dev.delivery import Answer, NoAnswer
from dev.events import Event


@dataclass(frozen=True)
class Verdict:
    """How often a run was claimed and completed. `problem` is empty if all is right.

    `attempts` counts the claims; it is `None` where only the answers are known. `recovered` counts
    those that took over from an earlier attempt. Where the run starts something elsewhere, `starts`
    says how often that was started.
    """

    attempts: int | None
    recovered: int
    completions: int
    problem: str
    starts: int | None = None

    @property
    def right(self) -> bool:
        """Whether the run was done exactly once."""
        return not self.problem


def events_of_run(
    events: Iterable[Event], job: str, schedule_time: datetime, *, forced: bool
) -> list[Event]:
    """Return the events of one run, in order.

    A key that differs between the spellings of one instant does not hide anything: all events of
    the instant belong to the run, whatever their `run_id`.
    """
    known = list(events)
    forced_ids = {event.run_id for event in known if event.forced}
    ids = {
        event.run_id for event in known if event.job == job and event.schedule_time == schedule_time
    }
    return [
        event
        for event in known
        if event.run_id and event.run_id in ids and (event.run_id in forced_ids) == forced
    ]


def judge_events(events: Sequence[Event], executions: int | None = None) -> Verdict:
    """Judge a run by its events.

    It is wrong if it was not completed exactly once, or if a claim after the first one was neither
    a recovery nor preceded by a release. Where the run starts something elsewhere, `executions`
    says how often that was started: once is right.
    """
    claims = [event for event in events if event.name == "claimed"]
    names = [event.name for event in events]
    # A server that is killed right after its finish does not come to say so.
    ended = {"returned", "duplicate"} <= set(names)
    completions = names.count("completed") or int(ended)
    doubled, at_work = False, False
    for event in events:
        if event.name == "claimed":
            doubled = doubled or (at_work and not event.recovered)
            at_work = True
        elif event.name == "released":
            at_work = False
    return Verdict(
        attempts=len(claims),
        recovered=sum(event.recovered for event in claims),
        completions=completions,
        problem=_problem(completions, doubled, names)
        or ("" if executions in (None, 1) else f"started {executions} times elsewhere"),
        starts=executions,
    )


def judge_answers(answers: Sequence[Answer | NoAnswer]) -> Verdict:
    """Judge a run by what its deliveries were answered.

    Exactly one of them must be `processed`. A completion in an attempt whose answer never came
    shows by a later `duplicate`.
    """
    outcomes = [answer.outcome for answer in answers if isinstance(answer, Answer)]
    unanswered = any(isinstance(answer, NoAnswer) for answer in answers)
    completions = outcomes.count("processed")
    if not completions and unanswered and "duplicate" in outcomes:
        completions = 1
    return Verdict(None, 0, completions, _problem(completions, False, outcomes))


def _problem(completions: int, doubled: bool, names: Iterable[str]) -> str:
    if completions > 1:
        return f"done {completions} times"
    if doubled:
        return "started while at work"
    if completions == 0:
        return "given up" if "gave_up" in names else "never done"
    return ""
