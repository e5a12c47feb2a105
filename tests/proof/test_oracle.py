"""The checker bites: each promise, broken by hand, is found out."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest
from app.dedup.attempt import Attempt
from app.service import Response

from proof.errand import End, Errand, Plan, View
from proof.oracle import Oracle
from proof.world import START, Machine, World

RUN: Final = "run"
LEASE: Final = 60.0
SECOND: Final = 1_000_000

MINE: Final = View("in_progress", "attempt #1", 0, LEASE)
THEIRS: Final = View("in_progress", "attempt #2", 0, LEASE)
COMPLETED: Final = View("completed", "attempt #1", 0, LEASE)
FAILED: Final = View("failed", "attempt #1", 0, LEASE)


class Scene:
    """Two attempts at one run that is due at the start, and what watches them."""

    def __init__(self, *, separate: bool = True) -> None:
        self.world = World()
        self.oracle = Oracle(self.world, lease=LEASE, separate=separate, timeout=180.0)
        self.one = self.errand("#1")
        self.two = self.errand("#2")

    def errand(self, name: str) -> Errand:
        errand = Errand(name, Machine(self.world, "instance"), 0.0, Plan())
        errand.attempt_id = f"attempt {name}"
        return errand

    def wrote(self, errand: Errand, view: View | None, seconds: float = 0.0) -> None:
        self.world.now = seconds
        self.oracle.wrote(errand, RUN, view, round(seconds * SECOND))

    def started(
        self, errand: Errand, *, recovered: bool = False, fence: int = 1, forced: bool = False
    ) -> None:
        attempt = Attempt(
            run_id=RUN,
            attempt_id=errand.attempt_id,
            job_name="nightly",
            deadline=START,
            recovered=recovered,
            fence=fence,
            schedule_time=START + timedelta(seconds=errand.due),
            forced=forced,
        )
        self.oracle.started(errand, attempt)

    def completed(self) -> None:
        """Let the first attempt do all the work."""
        self.wrote(self.one, MINE)
        self.started(self.one)
        self.one.end = End.RETURNS
        self.wrote(self.one, COMPLETED)

    def answered(self, errand: Errand, status: int, outcome: str, **more: str) -> None:
        body = {"outcome": outcome, "run_id": RUN, **more}
        headers = {"Retry-After": "60"}
        self.oracle.answered(errand, Response(status, json.dumps(body).encode(), headers))


def test_what_keeps_every_promise_is_left_alone() -> None:
    scene = Scene()
    scene.completed()
    scene.answered(scene.one, 200, "processed")
    scene.answered(scene.two, 200, "duplicate")
    scene.oracle.finished(RUN, "it is not completed")
    assert scene.oracle.violation is None


def test_a_takeover_of_a_dead_claim_is_left_alone() -> None:
    scene = Scene()
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)
    scene.wrote(scene.two, replace(THEIRS, micros=60 * SECOND), seconds=LEASE)
    scene.started(scene.two, recovered=True, fence=2)
    assert scene.oracle.violation is None


def store_is_waited_for_too_long(scene: Scene) -> None:
    scene.oracle.asked(scene.one, 3.1)


def final_record_is_changed(scene: Scene) -> None:
    scene.completed()
    scene.wrote(scene.one, MINE)


def final_record_is_deleted(scene: Scene) -> None:
    scene.completed()
    scene.wrote(scene.one, None)


def live_claim_is_taken(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.wrote(scene.two, THEIRS, seconds=LEASE - 0.001)


def live_claim_is_deleted(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.wrote(scene.two, None, seconds=1.0)


def dead_claim_is_deleted_by_another(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.wrote(scene.two, None, seconds=LEASE)


def record_names_another(scene: Scene) -> None:
    scene.wrote(scene.one, THEIRS)


def lease_is_too_long(scene: Scene) -> None:
    scene.wrote(scene.one, replace(MINE, lease=LEASE + 1))


def work_is_recorded_that_was_not_done(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.wrote(scene.one, COMPLETED)


def success_is_recorded_as_failure(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)
    scene.one.end = End.RETURNS
    scene.wrote(scene.one, FAILED)


def job_starts_unclaimed(scene: Scene) -> None:
    scene.started(scene.one)


def job_starts_beside_a_live_owner(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)
    scene.started(scene.two, recovered=True, fence=2)


def job_starts_after_its_lease(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.world.now = LEASE
    scene.started(scene.one)


def takeover_is_not_told(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)
    scene.wrote(scene.two, replace(THEIRS, micros=60 * SECOND), seconds=LEASE)
    scene.started(scene.two, fence=2)


def fence_does_not_rise(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)
    scene.wrote(scene.two, replace(THEIRS, micros=60 * SECOND), seconds=LEASE)
    scene.started(scene.two, recovered=True, fence=1)


def job_starts_after_sigterm(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.one.machine.shutdown.begin()
    scene.started(scene.one)


def job_starts_without_time(scene: Scene) -> None:
    scene.one.received = -180.0
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)


def due_run_counts_as_forced(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.started(scene.one, forced=True)


def forced_run_counts_as_scheduled(scene: Scene) -> None:
    scene.one.due = 900.0
    scene.wrote(scene.one, MINE)
    scene.started(scene.one)


def success_is_told_of_nothing(scene: Scene) -> None:
    scene.answered(scene.one, 200, "processed")


def duplicate_of_nothing(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.answered(scene.two, 200, "duplicate")


def success_of_another_is_told_as_ones_own(scene: Scene) -> None:
    scene.completed()
    scene.answered(scene.two, 200, "processed")


def wait_for_nobody(scene: Scene) -> None:
    scene.answered(scene.one, 409, "in_progress")


def wait_for_oneself(scene: Scene) -> None:
    scene.one.seen[RUN] = (MINE, 0)
    scene.answered(scene.one, 409, "in_progress")


def wait_for_the_dead(scene: Scene) -> None:
    scene.two.seen[RUN] = (MINE, 60 * SECOND)
    scene.answered(scene.two, 409, "in_progress")


def error_in_the_service(scene: Scene) -> None:
    scene.answered(scene.one, 500, "unavailable", reason="an error in the service; see its log")


def failure_without_a_fault(scene: Scene) -> None:
    scene.answered(scene.one, 500, "failed")


def loss_without_a_fault(scene: Scene) -> None:
    scene.one.seen[RUN] = (THEIRS, 0)
    scene.answered(scene.one, 409, "lost")


def status_that_is_retried_without_end(scene: Scene) -> None:
    scene.one.disturbed = True
    scene.answered(scene.one, 503, "unavailable")


def run_is_stuck(scene: Scene) -> None:
    scene.wrote(scene.one, MINE)
    scene.oracle.finished(RUN, "a run was delivered after its lease and not completed")


BROKEN: Final[dict[Callable[[Scene], None], str]] = {
    store_is_waited_for_too_long: "waits 3.1 s for the store",
    final_record_is_changed: "changed a final record",
    final_record_is_deleted: "changed a final record",
    live_claim_is_taken: "wrote over a live claim",
    live_claim_is_deleted: "wrote over a live claim",
    dead_claim_is_deleted_by_another: "wrote a record that is not its own",
    record_names_another: "wrote another attempt's id",
    lease_is_too_long: "wrote a lease of 61.0 s",
    work_is_recorded_that_was_not_done: "recorded completed for a job that did not end so",
    success_is_recorded_as_failure: "recorded failed for a job that did not end so",
    job_starts_unclaimed: "started its job without a live claim",
    job_starts_beside_a_live_owner: "#2 started its job without a live claim",
    job_starts_after_its_lease: "started its job without a live claim",
    takeover_is_not_told: "#2 was not told that #1 may have done part",
    fence_does_not_rise: "has a fence that is not above all earlier ones",
    job_starts_after_sigterm: "started its job after SIGTERM",
    job_starts_without_time: "started its job when its time was over",
    due_run_counts_as_forced: "was due and ran as a forced run",
    forced_run_counts_as_scheduled: "ran as a scheduled run ahead of its time",
    success_is_told_of_nothing: "was answered 200 processed with no end recorded",
    duplicate_of_nothing: "was answered 200 duplicate with no end recorded",
    success_of_another_is_told_as_ones_own: "was told that it did what it did not do",
    wait_for_nobody: "was told to wait for nobody",
    wait_for_oneself: "was told to wait for nobody",
    wait_for_the_dead: "was told to wait for a claim whose lease was over",
    error_in_the_service: "met an error in the service",
    failure_without_a_fault: "met no fault and was answered 500 failed",
    loss_without_a_fault: "met no fault and was answered 409 lost",
    status_that_is_retried_without_end: "was answered 503 unavailable",
    run_is_stuck: "a run was delivered after its lease and not completed",
}


@pytest.mark.parametrize("breaks", BROKEN, ids=lambda breaks: breaks.__name__)
def test_a_broken_promise_is_found_out(breaks: Callable[[Scene], None]) -> None:
    scene = Scene()
    breaks(scene)
    assert scene.oracle.violation is not None
    assert BROKEN[breaks] in scene.oracle.violation
    assert scene.world.stopped


def test_a_forced_run_does_not_count_as_forced_where_that_is_shared() -> None:
    scene = Scene(separate=False)
    scene.one.due = 900.0
    scene.wrote(scene.one, MINE)
    scene.started(scene.one, forced=True)
    assert scene.oracle.violation == "#1 counts as forced where that is shared"
