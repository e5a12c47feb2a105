"""One attempt of a run: its deliveries at the same moment, and the fault that strikes them."""

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

from app.dedup.record import Status
from app.dedup.store import Query
from app.dedup.stores import open_store
from dev.delivery import SPELLINGS, Answer, NoAnswer, Target, request_headers, send
from dev.hold import StoreHold
from dev.plan import Fault, PlannedRun
from dev.server import LocalServer
from dev.timeline import Timeline

LATE_DEADLINE_SECONDS = 1.0
"""The attempt deadline of an answer that shall be late; shorter than a store call may wait."""

_LOG_DELAY_SECONDS = 0.25
_READ_SECONDS = 5.0
_POLL_SECONDS = 0.005

Reply = Answer | NoAnswer
Wait = Callable[[float], bool]
"""Waits up to so many seconds for something; returns whether it has happened."""


class Attempts:
    """Makes attempts against one target."""

    def __init__(self, target: Target, timeline: Timeline, server: LocalServer | None) -> None:
        """Without a `server` under our control, no faults are possible."""
        self._target = target
        self._timeline = timeline
        self._server = server

    def make(self, run: PlannedRun, copies: int, fault: Fault | None) -> tuple[list[Reply], bool]:
        """Deliver all copies at once. Return the replies, and whether the fault struck.

        A fault that needs a claimed attempt does not strike one that is answered without.
        """
        if fault is None or self._server is None:
            return self._deliver(run, copies), False
        match fault:
            case Fault.LOST_ANSWER:
                return self._lose_answer(run, copies, self._server)
            case Fault.LATE_ANSWER:
                return self._delay_finish(run, copies, self._server)
            case Fault.KILL_AFTER_CLAIM | Fault.KILL_IN_JOB | Fault.KILL_BEFORE_FINISH:
                return self._kill(run, copies, fault, self._server)

    def _lose_answer(
        self, run: PlannedRun, copies: int, server: LocalServer
    ) -> tuple[list[Reply], bool]:
        completed = _event(run, server, "completed")
        replies = self._deliver(run, copies, lose_answer=lambda: completed(_LOG_DELAY_SECONDS))
        return replies, NoAnswer("answer lost") in replies

    def _delay_finish(
        self, run: PlannedRun, copies: int, server: LocalServer
    ) -> tuple[list[Reply], bool]:
        completed = _event(run, server, "completed")
        hold = StoreHold(server.store)
        try:
            replies = self._deliver(run, copies, deadline=LATE_DEADLINE_SECONDS)
        finally:
            hold.release()
        struck = hold.taken.is_set() and NoAnswer("deadline exceeded") in replies
        return replies, struck and completed(LATE_DEADLINE_SECONDS + _LOG_DELAY_SECONDS)

    def _kill(
        self, run: PlannedRun, copies: int, fault: Fault, server: LocalServer
    ) -> tuple[list[Reply], bool]:
        returned = _event(run, server, "returned")
        before = _completions(server)
        hold = StoreHold(server.store)
        moment: Wait
        match fault:
            case Fault.KILL_AFTER_CLAIM:
                moment = hold.taken.wait
            case Fault.KILL_IN_JOB:
                moment = _event(run, server, "claimed")
            case _:
                moment = returned
        try:
            with ThreadPoolExecutor(copies) as pool:
                futures = self._submit(pool, run, copies)
                reached = _first(moment, futures)
                if reached:
                    # Then everything that the server has said is known, and stands before it.
                    server.kill()
                    self._timeline.killed(_where(fault, returned=returned(0)))
        finally:
            hold.release()
        if reached:
            self._timeline.restarted(server.start())
        # A run may have ended before the store was held; nobody may have heard of that.
        struck = reached and _completions(server) == before
        return [future.result() for future in futures], struck

    def _deliver(
        self,
        run: PlannedRun,
        copies: int,
        *,
        deadline: float | None = None,
        lose_answer: Callable[[], bool] = lambda: False,
    ) -> list[Reply]:
        with ThreadPoolExecutor(copies) as pool:
            futures = self._submit(pool, run, copies, deadline, lose_answer)
        return [future.result() for future in futures]

    def _submit(
        self,
        pool: ThreadPoolExecutor,
        run: PlannedRun,
        copies: int,
        deadline: float | None = None,
        lose_answer: Callable[[], bool] = lambda: False,
    ) -> list[Future[Reply]]:
        target = self._target if deadline is None else replace(self._target, deadline=deadline)
        start = Barrier(copies)

        def deliver(copy: int) -> Reply:
            spelling = SPELLINGS[copy % len(SPELLINGS)]
            headers = request_headers(target, run.schedule_time, spelling, uuid.uuid4().hex)
            number = copy + 1 if copies > 1 else 0
            start.wait()
            self._timeline.delivered(number, spelling, run.schedule_time)
            reply = send(target, headers, lose_answer=lose_answer)
            self._timeline.replied(number, reply)
            return reply

        return [pool.submit(deliver, copy) for copy in range(copies)]


def _event(run: PlannedRun, server: LocalServer, name: str) -> Wait:
    """Return a wait for the next event of that name, of `run`."""
    mark = server.log.mark()
    return lambda seconds: server.log.wait_for(
        lambda event: event.name == name and event.schedule_time in (None, run.schedule_time),
        mark,
        seconds,
    )


def _completions(server: LocalServer) -> int:
    """Return how many runs are completed, by the store."""
    store = open_store(server.store_url)
    try:
        return len([*store.list(Query(status=Status.COMPLETED), timeout=_READ_SECONDS)])
    finally:
        store.close()


def _where(fault: Fault, *, returned: bool) -> str:
    """Say where the server was; quick work may be done before a kill that is aimed at its start."""
    if returned:
        return "after the work, before its finish"
    return "after the claim" if fault is Fault.KILL_AFTER_CLAIM else "while it worked"


def _first(moment: Wait, futures: Sequence[Future[Reply]]) -> bool:
    """Wait for the moment, or until all deliveries are answered; return whether it came."""
    while not all(future.done() for future in futures):
        if moment(_POLL_SECONDS):
            return True
    return False
