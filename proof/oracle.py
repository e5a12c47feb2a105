"""What must hold, looked at from outside after every step.

It knows the store itself, its clock, and what jobs and instances have done; it uses no code of the
protocol. The first violation ends the schedule.
"""

import json
from collections import defaultdict
from typing import Final

from app.dedup.attempt import Attempt
from app.service import Response

from proof.errand import End, Errand, View
from proof.world import START, World

FORCED_MARGIN: Final = 10.0
"""A schedule time so many seconds ahead, by the store's clock, is a forced run's (R06)."""

LONGEST_SETTLE: Final = 30.0
"""For so long a run of unknown outcome is left alone (R22)."""

LONGEST_CALL: Final = 3.0
"""No call of the store is waited for longer (R26)."""

_STATUSES: Final = {
    "processed": (200,),
    "duplicate": (200,),
    "gave_up": (200,),
    "in_progress": (409,),
    "lost": (409, 500),
    "failed": (500,),
    "unavailable": (500,),
}


class Oracle:
    """Watches one schedule. `violation` is the first promise that was broken, or None.

    `lease` is what a claim gives, in seconds; `separate` whether forced runs have their own keys.
    """

    def __init__(self, world: World, *, lease: float, separate: bool, timeout: float) -> None:
        self.violation: str | None = None
        self._world = world
        self._lease = lease
        self._separate = separate
        self._timeout = timeout
        self._views: dict[str, View] = {}
        self._starts: dict[str, list[Errand]] = defaultdict(list)

    def view(self, run_id: str) -> View | None:
        """Return the record of a run."""
        return self._views.get(run_id)

    def asked(self, errand: Errand, limit: float) -> None:
        """Check for how long an attempt waits for an answer of the store."""
        if limit > LONGEST_CALL:
            self.broken(f"{errand.name} waits {limit} s for the store")

    def wrote(self, errand: Errand, run_id: str, after: View | None, now: int) -> None:
        """Check a write that the store has done, `now` in microseconds by its clock."""
        before = self._views.get(run_id)
        mine = before is not None and before.attempt_id == errand.attempt_id
        if before is not None and before.is_final():
            self.broken(f"{errand.name} changed a final record")
        if before is not None and not mine:
            if before.is_alive(now):
                self.broken(f"{errand.name} wrote over a live claim")
            if after is None or after.is_final():
                self.broken(f"{errand.name} wrote a record that is not its own")
        if after is None:
            self._views.pop(run_id, None)
            return
        self._views[run_id] = after
        if after.attempt_id != errand.attempt_id:
            self.broken(f"{errand.name} wrote another attempt's id")
        if after.is_final():
            self._check_end(errand, run_id, after)
            return
        if not 0 <= after.lease <= max(self._lease, LONGEST_SETTLE):
            self.broken(f"{errand.name} wrote a lease of {after.lease} s")
        if before is not None and not mine:
            self._world.counts["takeovers"] += 1

    def started(self, errand: Errand, attempt: Attempt) -> None:
        """Check that a job may start."""
        run_id, now = attempt.run_id, int(self._world.now * 1e6)
        view = self.view(run_id)
        if view is None or view.attempt_id != errand.attempt_id or not view.is_alive(now):
            self.broken(f"{errand.name} started its job without a live claim")
        if not attempt.recovered:
            self._check_first(errand, run_id)
        if any(attempt.fence <= earlier.fence for earlier in self._starts[run_id]):
            self.broken(f"{errand.name} has a fence that is not above all earlier ones")
        if errand.machine.shutdown.begun:
            self.broken(f"{errand.name} started its job after SIGTERM")
        if self._world.now >= errand.received + self._timeout:
            self.broken(f"{errand.name} started its job when its time was over")
        self._check_key(errand, attempt)
        self._starts[run_id].append(errand)
        errand.started = run_id
        errand.fence = attempt.fence
        errand.recovered = attempt.recovered
        self._world.counts["jobs recovered" if attempt.recovered else "jobs"] += 1

    def answered(self, errand: Errand, response: Response) -> None:
        """Check an answer at the moment at which an instance gives it."""
        body = json.loads(response.body)
        outcome, run_id = str(body["outcome"]), str(body.get("run_id"))
        errand.answer = response.status
        self._world.counts[f"answer {outcome} {response.status}"] += 1
        if response.status not in _STATUSES.get(outcome, ()):
            self.broken(f"{errand.name} was answered {response.status} {outcome}")
        if "an error in the service" in str(body.get("reason")):
            self.broken(f"{errand.name} met an error in the service")
        view = self.view(run_id)
        if response.status == 200:
            wanted = "failed" if outcome == "gave_up" else "completed"
            if view is None or view.status != wanted:
                self.broken(f"{errand.name} was answered 200 {outcome} with no end recorded")
        if outcome == "processed" and (
            errand.end is not End.RETURNS or view is None or view.attempt_id != errand.attempt_id
        ):
            self.broken(f"{errand.name} was told that it did what it did not do")
        if response.status == 409:
            self._check_wait(errand, run_id, outcome, response.headers["Retry-After"])
        wanted_of_all = response.status in (200, 409) and outcome != "lost"
        if errand.is_undisturbed() and not wanted_of_all:
            self.broken(f"{errand.name} met no fault and was answered {response.status} {outcome}")

    def is_final(self, run_id: str) -> bool:
        """Tell whether a run has ended."""
        view = self.view(run_id)
        return view is not None and view.is_final()

    def finished(self, run_id: str, what: str) -> None:
        """Check that a run has ended, where nothing stands in its way any more."""
        if not self.is_final(run_id):
            self.broken(what)

    def broken(self, what: str) -> None:
        """Note that a promise is broken; the schedule ends."""
        if self.violation is None:
            self.violation = what
            self._world.stopped = True
            if self._world.tell:
                self._world.tell(self._world.now, "oracle", f"BROKEN: {what}")

    def _check_first(self, errand: Errand, run_id: str) -> None:
        """Check that all earlier jobs of a run have failed and said so (R13, R21)."""
        for earlier in self._starts[run_id]:
            if earlier.end in (None, End.RETURNS, End.GIVES_UP, End.UNKNOWN):
                self.broken(f"{errand.name} was not told that {earlier.name} may have done part")

    def _check_end(self, errand: Errand, run_id: str, after: View) -> None:
        ends = {"completed": End.RETURNS, "failed": End.GIVES_UP}
        if errand.started != run_id or errand.end is not ends[after.status]:
            self.broken(f"{errand.name} recorded {after.status} for a job that did not end so")
        self._world.counts[after.status] += 1

    def _check_wait(self, errand: Errand, run_id: str, outcome: str, seconds: str) -> None:
        view, now = errand.seen.get(run_id, (None, 0))
        if view is None or view.is_final() or view.attempt_id == errand.attempt_id:
            self.broken(f"{errand.name} was told to wait for nobody")
        elif outcome == "in_progress" and not view.is_alive(now):
            self.broken(f"{errand.name} was told to wait for a claim whose lease was over")
        if not 1 <= int(seconds) <= max(self._lease, LONGEST_SETTLE) + 1:
            self.broken(f"{errand.name} was told to wait {seconds} s")

    def _check_key(self, errand: Errand, attempt: Attempt) -> None:
        due = (attempt.schedule_time - START).total_seconds()
        if due != errand.due:
            self.broken(f"{errand.name} runs for another schedule time")
        if not self._separate:
            if attempt.forced:
                self.broken(f"{errand.name} counts as forced where that is shared")
        elif attempt.forced and due - errand.received <= FORCED_MARGIN:
            self.broken(f"{errand.name} was due and ran as a forced run")
        elif not attempt.forced and due - self._world.now > FORCED_MARGIN:
            self.broken(f"{errand.name} ran as a scheduled run ahead of its time")
