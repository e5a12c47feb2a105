"""What is Workflows' own: the argument of an execution, and the label to search by."""

import json

import pytest

from tests.targets.proxied import Proxied


@pytest.fixture
def workflow(proxied: Proxied) -> Proxied:
    """A proxy of a workflow."""
    if "/workflows/" not in proxied.stand_in.api.target:
        pytest.skip("not of another target")
    return proxied


def test_the_argument_is_the_jobs_own_json_with_the_run_added(workflow: Proxied) -> None:
    answer = workflow.deliver(body={"customers": ["Ünïcode"]})
    [request] = workflow.stand_in.requests
    assert json.loads(request.body["argument"]) == {
        "customers": ["Ünïcode"],
        "token": answer.body["run_id"],
        "schedule_time": "2026-10-16T12:00:00Z",
        "job": "nightly",
    }
    assert request.body["labels"] == {"idempotency_token": answer.body["run_id"][:40]}


def test_the_argument_has_fewer_than_32_kilobytes(workflow: Proxied) -> None:
    assert workflow.deliver(0, body={"a": "ü" * 16_200}).outcome == (200, "processed")
    assert workflow.deliver(1, body={"a": "ü" * 16_400}).outcome == (200, "gave_up")
    assert sum(workflow.stand_in.api.starts.values()) == 1


@pytest.mark.parametrize("name", ["token", "schedule_time", "job"])
def test_the_jobs_own_json_does_not_replace_the_run(workflow: Proxied, name: str) -> None:
    assert workflow.deliver(body={name: "mine"}).outcome == (200, "gave_up")
    assert not workflow.stand_in.requests
