"""The retry budget: retries that come late enough after a crash and end in time (R31).

Cloud Scheduler retries a run a few times, and not past the job's next scheduled time. An attempt
that has died blocks its run until its lease is over. If the retries end before that, nobody
does the run: each of them is answered 409, and then there is none left.

The formula, in seconds:

- `claimable` = lease + settle time + margin: so long after its crash an attempt can be taken over
  for certain.
- *Must*: a retry comes `claimable` after a crash at any moment. Cloud Scheduler may learn of the
  crash as late as the attempt deadline, so attempt deadline + `claimable` + margin have to fit
  between two scheduled times.
- *Should*: one comes also after an attempt whose connection broke at once, and that works until
  its time limit and fails. It is due time limit + `claimable` after the start, and has the time of
  an attempt, and the margin, before the next scheduled time.
- The back-off doubles, so that the last of n retries comes (2^n - 1) first back-offs after the
  failure. There are five retries, or as many as fit, and the first back-off is the shortest whole
  number of seconds that brings the last one where it should be; where no number of retries
  does, where it must be.
"""

import math
from dataclasses import dataclass
from typing import Final

from app.backoff import RetryConfig, retry_starts
from app.dedup.runner import SETTLE

MARGIN: Final = 5.0
"""Seconds for what is not exact: a renewal under way at the crash, the delay of each retry."""

MOST_RETRIES: Final = 5
"""What Cloud Scheduler allows for `retryCount`."""

_ROUNDING: Final = 2**MOST_RETRIES - 2
_SHORTEST_LEASE: Final = 5
_SHORTEST_DEADLINE: Final = 15


@dataclass(frozen=True, slots=True)
class Times:
    """What a retry budget is made from, in seconds.

    Attributes:
        attempt_deadline: After so long Cloud Scheduler takes an attempt for failed (R32).
        request_timeout: After so long an attempt ends (R18).
        lease: So long a dead attempt keeps its run (R16).
        interval: The shortest time between two scheduled times of the job.
        settle: So long a proxy's run of unknown outcome is left alone after that (R22), else 0.
    """

    attempt_deadline: float
    request_timeout: float
    lease: float
    interval: float
    settle: float = 0.0

    @property
    def claimable(self) -> float:
        """How long after its crash an attempt can be taken over for certain."""
        return self.lease + self.settle + MARGIN

    @property
    def after_crash(self) -> float:
        """How long after a failure Cloud Scheduler has to retry, whenever the crash was."""
        return max(self.request_timeout - self.attempt_deadline, 0.0) + self.claimable

    @property
    def after_lost_connection(self) -> float:
        """The same where the failure is a connection that broke before the work began."""
        return self.request_timeout + self.claimable

    @property
    def latest(self) -> float:
        """How long after a failure, however late, a retry still has the time of an attempt."""
        return self.interval - self.attempt_deadline - MARGIN


class NoBudget(Exception):
    """A crash could lose the run. `str()` says why, and which settings to change."""


@dataclass(frozen=True, slots=True)
class Takeover:
    """How a run goes on after an attempt that died.

    In seconds after that attempt's start, `claimable` is when its lease (and the settle time) is
    over, and `start` is when the `retry`-th retry takes the run over.
    """

    claimable: float
    retry: int
    start: float


def retry_config(times: Times) -> RetryConfig:
    """Return the retry settings of the job.

    Raises:
        NoBudget: none would bring a retry in time.
    """
    for least in (times.after_lost_connection, times.after_crash):
        if config := _fitting(least, times.latest):
            return config
    limit = max(times.request_timeout, times.attempt_deadline)
    raise NoBudget(
        f"A crash could lose the run: an attempt that dies after {limit:g} s can be taken over"
        f" {times.claimable:g} s later, and the next run, due after {times.interval:g} s, ends the"
        f" retries. {_remedy(times, times.after_crash, attempts=1)}"
    )


def warning(times: Times) -> str:
    """Return what the retries of these times do not cover though they should, or `""`."""
    if times.after_lost_connection <= times.latest:
        return ""
    return (
        "An attempt whose connection breaks at once, and that fails at its time limit of"
        f" {times.request_timeout:g} s, is not tried again: the retry would be due after"
        f" {times.after_lost_connection:g} s and may take {times.attempt_deadline:g} s, and the"
        f" next run is due after {times.interval:g} s."
        f" {_remedy(times, times.after_lost_connection, attempts=2)}"
    )


def takeover(
    times: Times, config: RetryConfig, *, crashed: float, failed: float
) -> Takeover | None:
    """Return which retry takes a run over; `None` if none does.

    `crashed` is when the first attempt died, in seconds after its start, and `failed` when Cloud
    Scheduler took it for failed, which may be earlier.
    """
    claimable = crashed + times.lease + times.settle
    for retry, start in enumerate(retry_starts(config), 1):
        if failed + start >= times.interval:
            return None
        if failed + start > claimable:
            return Takeover(claimable, retry, failed + start)
    return None


def retry_window(*, attempt_deadline: float, request_timeout: float, lease: float) -> float:
    """Return for how many seconds after its scheduled time a run can be delivered (R29).

    That is with the retries of `retry_config` for any schedule and any target, where each attempt
    takes all its time.
    """
    attempts = (MOST_RETRIES + 1) * attempt_deadline
    return attempts + request_timeout + lease + SETTLE + MARGIN + _ROUNDING


def _fitting(least: float, most: float) -> RetryConfig | None:
    """Return as many doubling retries as possible whose last comes from `least` to `most`."""
    for retries in range(MOST_RETRIES, 0, -1):
        first = math.ceil(least / (2**retries - 1))
        if first * (2**retries - 1) <= most:
            return RetryConfig(
                retry_count=retries,
                min_backoff=first,
                max_backoff=first * 2 ** (retries - 1),
                max_doublings=MOST_RETRIES,
            )
    return None


def _remedy(times: Times, least: float, *, attempts: int) -> str:
    """Name the settings by which `least` and `attempts` attempts fit into the interval."""
    excess = least - times.latest
    lease = math.floor(times.lease - excess)
    deadline = math.floor((times.interval - times.claimable - MARGIN) / attempts)
    ways = []
    if lease >= _SHORTEST_LEASE:
        ways.append(f"a LEASE_SECONDS (`lease`) of {lease} or less")
    if deadline >= _SHORTEST_DEADLINE:
        ways.append(f"an ATTEMPT_DEADLINE_SECONDS (`attempt_deadline`) of {deadline} or less")
    if not ways:
        names = "ATTEMPT_DEADLINE_SECONDS (`attempt_deadline`) and LEASE_SECONDS (`lease`)"
        ways.append(f"both a shorter {names}")
    ways.append(f"a SCHEDULE (`schedule`) with {math.ceil(times.interval + excess)} s between runs")
    return f"Use {', or '.join(ways)}."
