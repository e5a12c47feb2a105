"""What the journal, the records and the answers say about all runs together."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import quantiles

from proof.soak.journal import Fault, Work

SLACK = 0.5
"""Seconds by which an interruption and its effect may be apart in what was written down."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How often the runs were done, why some were done again, and what must not be (`wrong`)."""

    once: int
    again: int
    because: Counter[str]
    recoveries: list[float]
    wrong: list[str]

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def recovery(self, percent: int) -> float:
        """Return within how many seconds so many percent of killed runs were done."""
        if len(self.recoveries) < 2:
            return self.recoveries[0] if self.recoveries else 0.0
        return quantiles(self.recoveries, n=100, method="inclusive")[percent - 1]


def judge(
    run_ids: Sequence[str],
    work: Sequence[Work],
    faults: Sequence[Fault],
    finished_by: Mapping[str, str | None],
    answered: Mapping[str, float],
    refused: Collection[str] = (),
) -> Verdict:
    """Judge runs by what was written down.

    `finished_by` has the attempt that each completed record names, `answered` the time of the
    first 2xx. `refused` are attempts that logged that the store failed to take a write of theirs.
    """
    starts = {(each.run_id, each.attempt_id): each for each in work if each.what == "start"}
    done: dict[str, list[Work]] = defaultdict(list)
    for each in work:
        if each.what == "done":
            done[each.run_id].append(each)
    wrong = [f"run {run_id} was done, and is no run" for run_id in done.keys() - {*run_ids}]
    again = 0
    because = Counter[str]()
    for run_id in run_ids:
        ends = done.get(run_id, [])
        if not ends:
            wrong.append(f"run {run_id} is lost: nobody did it")
            continue
        if finished_by.get(run_id) not in {each.attempt_id for each in ends}:
            wrong.append(f"run {run_id} has a record that names no attempt which did it")
        if answered.get(run_id, ends[0].at) < ends[0].at:
            wrong.append(f"run {run_id} was answered with 2xx before anybody had done it")
        again += len(ends) > 1
        for first, second in pairwise(ends):
            begun, taken = starts[run_id, first.attempt_id], starts[run_id, second.attempt_id]
            causes = _interruptions(begun, taken.at, faults)
            if first.attempt_id in refused:
                causes.insert(0, "the store took no write")
            if not second.recovered:
                wrong.append(f"run {run_id} was done twice, and the second attempt did not know")
            elif not causes:
                wrong.append(f"run {run_id} was done twice without a crash")
            else:
                because[causes[0]] += 1
    return Verdict(
        once=sum(len(ends) == 1 for ends in done.values()),
        again=again,
        because=because,
        recoveries=_recoveries(starts.values(), done, faults),
        wrong=wrong,
    )


def _interruptions(begun: Work, until: float, faults: Sequence[Fault]) -> list[str]:
    """Return what interrupted the attempt's server, or the store, while it held the run."""
    return [
        fault.what
        for fault in faults
        if fault.group in (0, begun.group)
        and fault.what != "stop"
        and fault.begin <= until + SLACK
        and fault.end >= begun.at - SLACK
    ]


def _recoveries(
    starts: Iterable[Work], done: Mapping[str, list[Work]], faults: Sequence[Fault]
) -> list[float]:
    """Return how long after a kill each run that it interrupted was done by another attempt."""
    killed = {fault.group: fault.begin for fault in faults if fault.what == "kill"}
    found = []
    for start in starts:
        ends = done.get(start.run_id, [])
        kill = killed.get(start.group)
        if kill is None or any(end.attempt_id == start.attempt_id for end in ends):
            continue
        # What had ended before the kill, in failure, was not interrupted by it.
        later = [end.at for end in ends if end.at > kill and end.recovered]
        if later and not any(end.at <= kill for end in ends):
            found.append(min(later) - kill)
    return found
