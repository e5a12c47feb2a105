"""The workflow does its step once per token: in workflows-emulator, on the Firestore emulator."""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from workflows_emulator.main import load_workflow

from tests.workflow.conftest import WORKFLOW, Step, Workflow

pytestmark = pytest.mark.slow


def test_is_what_the_schema_of_workflows_allows() -> None:
    assert {"main", "claim", "write", "look", "may_help"} == load_workflow(str(WORKFLOW)).keys()


class TestOnce:
    def test_the_step_gets_the_token_and_the_whole_argument(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R37."""
        argument = {"token": workflow.token, "schedule_time": "t", "job": "j", "amount": [1, {}]}
        answer = workflow.run(argument)
        assert answer["returned"] == {
            "outcome": "processed",
            "token": workflow.token,
            "result": {"number": 1},
        }
        (request,) = step.requests
        assert request == {"key": workflow.token, "audience": step.url, "body": argument}

    def test_a_duplicate_returns_the_recorded_result(self, workflow: Workflow, step: Step) -> None:
        """R11."""
        workflow.run()
        assert workflow.run()["returned"] == {
            "outcome": "duplicate",
            "token": workflow.token,
            "result": {"number": 1},
        }
        assert len(step.requests) == 1

    def test_the_record_says_what_was_done_until_it_expires(self, workflow: Workflow) -> None:
        """R29."""
        workflow.run()
        record = workflow.record()
        assert record["status"] == "completed"
        assert json.loads(record["result"]) == {"number": 1}
        assert (record["job"], record["schedule_time"]) == ("nightly", "2026-10-16T12:00:00Z")
        left = datetime.fromisoformat(record["expire_at"]) - datetime.now(UTC)
        assert timedelta(days=6) < left < timedelta(days=8)

    @pytest.mark.parametrize("commit", [1, 2, 3])
    def test_a_write_that_was_repeated_is_its_own(
        self, workflow: Workflow, step: Step, commit: int
    ) -> None:
        """R15, R26: the answer to the claim, the renewal or the end gets lost."""
        assert workflow.run(LOST_WRITES=str(commit))["returned"]["outcome"] == "processed"
        assert workflow.record()["status"] == "completed"
        assert len(step.requests) == 1


class TestTwoAtOnce:
    def test_the_second_returns_the_result_of_the_first(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R12: it waits for one lease, within which the first has done it."""
        step.open.clear()
        first = workflow.start()
        step.await_request()
        workflow.set_lease(3)
        second = workflow.start()
        step.open.set()
        assert first.result()["returned"]["outcome"] == "processed"
        assert second.result()["returned"]["outcome"] == "duplicate"
        assert len(step.requests) == 1

    def test_the_second_fails_while_the_first_is_alive(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R12, R18."""
        step.open.clear()
        first = workflow.start()
        step.await_request()
        workflow.set_lease(5)
        second = workflow.start()
        # As the first does before each try.
        while second.is_at_work():
            time.sleep(0.5)
            workflow.set_lease(5)
        error = second.result()["error"]
        assert error["code"] == 409
        assert "is at work on this token" in error["message"]
        step.open.set()
        assert first.result()["returned"]["outcome"] == "processed"
        assert len(step.requests) == 1


class TestCrash:
    def test_between_claim_and_step_the_next_execution_does_it(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R28."""
        assert workflow.start(EXIT_AT="2").wait() == 137
        assert (workflow.record()["status"], step.requests) == ("in_progress", [])
        workflow.set_lease(1)
        assert workflow.run()["returned"]["outcome"] == "processed"
        assert step.keys == [workflow.token]

    def test_between_step_and_record_the_next_execution_calls_with_the_same_key(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R28, R36: by which the step recognises what it has done."""
        assert workflow.start(EXIT_AT="3").wait() == 137
        workflow.set_lease(1)
        assert workflow.run()["returned"]["outcome"] == "processed"
        assert step.keys == [workflow.token] * 2
        assert workflow.run()["returned"]["outcome"] == "duplicate"

    def test_in_the_middle_of_the_step_is_taken_over_after_the_lease(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R13."""
        step.open.clear()
        first = workflow.start()
        step.await_request()
        first.kill()
        workflow.set_lease(2)
        second = workflow.start()
        step.await_request(2)
        step.open.set()
        assert second.result()["returned"]["outcome"] == "processed"

    def test_an_execution_that_was_taken_over_writes_nothing(
        self, workflow: Workflow, step: Step
    ) -> None:
        """R19."""
        step.open.clear()
        first = workflow.start()
        step.await_request()
        workflow.set_lease(0)
        second = workflow.start()
        step.await_request(2)
        owner = workflow.record()["execution_id"]
        step.open.set()
        results = [first.result(), second.result()]
        assert [next(iter(result)) for result in results] == ["error", "returned"]
        assert results[0]["error"]["code"] == 412
        assert workflow.record()["execution_id"] == owner
        assert workflow.record()["status"] == "completed"


class TestErrors:
    @pytest.mark.parametrize("status", [409, 500])
    def test_of_the_step_that_may_pass_are_tried_again(
        self, workflow: Workflow, step: Step, status: int
    ) -> None:
        """R37: 409 says that the step is being done, 500 that it failed and may be done again."""
        step.answers = [status]
        assert workflow.run()["returned"]["result"] == {"number": 2}
        assert step.keys == [workflow.token] * 2

    @pytest.mark.parametrize("status", [403, 422])
    def test_of_the_step_that_stay_end_the_execution_and_its_lease(
        self, workflow: Workflow, step: Step, status: int
    ) -> None:
        """R21: when the cause is gone, the next execution need not wait."""
        step.answers = [status]
        assert workflow.run()["error"]["code"] == status
        assert workflow.record()["lease_seconds"] == 0
        assert workflow.run()["returned"]["outcome"] == "processed"

    def test_of_the_connection_are_tried_again(self, workflow: Workflow, step: Step) -> None:
        step.open.clear()
        execution = workflow.start(HTTP_TIMEOUT="2")
        step.await_request(2)
        step.open.set()
        assert execution.result()["returned"]["outcome"] == "processed"

    @pytest.mark.parametrize("token", ["", "g" * 64, "a" * 63])
    def test_a_token_that_is_none_is_refused(
        self, workflow: Workflow, step: Step, token: str
    ) -> None:
        error = workflow.run({"token": token})["error"]
        assert (error["code"], step.requests) == (400, [])
        assert "64 hex digits" in error["message"]

    def test_a_missing_url_is_refused_before_anything_is_claimed(self, workflow: Workflow) -> None:
        error = workflow.run(STEP_URL="")["error"]
        assert (error["code"], workflow.record()) == (400, {})
        assert "STEP_URL" in error["message"]

    def test_an_unknown_status_is_left_alone(self, workflow: Workflow, step: Step) -> None:
        """R17."""
        workflow.run()
        workflow.set_status("odd")
        assert workflow.record()["status"] == "odd"
        assert workflow.run()["error"]["code"] == 500
        assert len(step.requests) == 1
