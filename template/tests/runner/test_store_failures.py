"""A store that fails, or has what no protocol wrote (R15, R17, R25, R26)."""

import logging
from datetime import datetime

import pytest

from app.dedup import Attempt, outcome
from tests.support.faults import Kind
from tests.support.protocol import Instance, Never, let_it_die, run_id_at
from tests.support.stores import Harness, lossy


class TestStoreFailure:
    """R25, R26."""

    @lossy
    def test_of_the_claim_keeps_the_job_from_running(
        self, harness: Harness, one: Instance, due: datetime
    ) -> None:
        """Bug row 25: fail closed."""
        harness.faults.plan = [Kind.LOST_REQUEST] * 100
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran

    @lossy
    @pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
    def test_of_the_claim_is_overcome(
        self, harness: Harness, one: Instance, due: datetime, kind: Kind
    ) -> None:
        """R15; weakness 1: the work is done, and nobody is refused by himself."""
        harness.faults.plan = [kind]
        assert isinstance(one.deliver(due), outcome.Processed)

    @lossy
    def test_that_is_overcome_is_logged(
        self, harness: Harness, one: Instance, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R39."""
        harness.faults.plan = [Kind.LOST_ANSWER]
        one.deliver(due)
        events = [getattr(line, "event", None) for line in caplog.records]
        assert "unclear_resolved" in events

    @lossy
    @pytest.mark.parametrize("kind", [Kind.LOST_REQUEST, Kind.LOST_ANSWER])
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_of_the_finish_is_overcome_within_the_lease(
        self, harness: Harness, one: Instance, due: datetime, kind: Kind, count: int
    ) -> None:

        def job(attempt: Attempt) -> None:
            harness.faults.plan = [kind] * count

        assert isinstance(one.deliver(due, job), outcome.Processed)

    @lossy
    def test_of_the_finish_says_that_the_work_was_done(
        self, harness: Harness, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Bug row 12: the record stays ours, and the next attempt knows."""
        one = Instance(harness, lease=5.0)

        def job(attempt: Attempt) -> None:
            harness.faults.plan = [Kind.LOST_REQUEST] * 100

        answer = one.deliver(due, job)
        harness.faults.plan = []
        assert isinstance(answer, outcome.Failed)
        assert "the work was done" in answer.reason
        assert "its record was not written" in caplog.text
        record = harness.raw(run_id_at(due))
        assert record is not None
        assert record["attempt_id"] == one.attempts[0].attempt_id
        let_it_die(harness, due)
        one.deliver(due)
        assert one.attempts[1].recovered

    def test_of_an_unknown_status_leaves_the_run_alone(
        self, harness: Harness, one: Instance, due: datetime, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R17: fail closed, with an error in the log."""
        harness.plant(run_id_at(due), {"status": "paused"})
        never = Never()
        assert isinstance(one.deliver(due, never), outcome.Unavailable)
        assert not never.ran
        assert any(line.levelno == logging.ERROR for line in caplog.records)
