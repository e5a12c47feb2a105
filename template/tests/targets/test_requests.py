"""What a target gets, and what is kept of its answer (R09, R35)."""

import json
from datetime import datetime

import pytest

from app.dedup import Attempt
from app.kinds.proxy import SEARCH_MARGIN, Proxy
from app.targets import Result, Searchable
from dev.standin import Trouble
from tests.support.clock import NOON
from tests.targets.proxied import Proxied


def test_the_token_reaches_the_target(proxied: Proxied) -> None:
    """It is the run's key, and the same in each attempt."""
    answer = proxied.deliver()
    assert proxied.starts(answer) == 1
    [request] = proxied.stand_in.requests
    assert answer.body["run_id"] in json.dumps([request.body, request.headers])


def test_what_was_started_is_kept_and_shown_to_duplicates(proxied: Proxied) -> None:
    answer = proxied.deliver()
    result = answer.body["result"]
    assert result
    if "name" in result:
        assert result["name"].startswith("projects/my-project/locations/")
    assert proxied.deliver().body["result"] == result


def test_what_is_found_is_kept_like_what_is_started(searched: Proxied) -> None:
    first = searched.deliver(0)
    searched.stand_in.plan.append(Trouble.LOST_ANSWER)
    searched.deliver(1)
    found = searched.deliver_until_done(1)
    assert found.body["result"].keys() == first.body["result"].keys()
    assert searched.starts(found) == 1


def test_a_loopback_address_gets_no_credentials(proxied: Proxied) -> None:
    proxied.deliver()
    assert "authorization" not in proxied.stand_in.requests[0].headers


def test_the_first_attempt_does_not_search(proxied: Proxied) -> None:
    """One call for a run without trouble."""
    proxied.deliver()
    assert [request.method for request in proxied.stand_in.requests] == ["POST"]


@pytest.mark.parametrize(
    ("run", "separate", "since"),
    [(0, True, NOON - SEARCH_MARGIN), (-60, True, None), (0, False, None)],
    ids=["scheduled", "forced", "shared"],
)
def test_a_search_goes_back_to_the_first_attempt(
    searched: Proxied, run: int, separate: bool, since: datetime | None
) -> None:
    """A forced run may have been made long before its time; its search has no bound."""
    assert isinstance(searched.target, Searchable)
    target: Searchable = searched.target
    seen = []

    class Spy:
        def start(self, token: str, attempt: Attempt) -> Result:
            return target.start(token, attempt)

        def find(self, token: str, attempt: Attempt, since: datetime | None) -> Result | None:
            seen.append(since)
            return target.find(token, attempt, since)

    searched.proxy = Proxy(Spy(), separate_forced_runs=separate)
    searched.stand_in.plan.append(Trouble.LOST_ANSWER)
    searched.deliver(run)
    assert searched.starts(searched.deliver_until_done(run)) == 1
    assert seen == [since]


class TestTheJobsBody:
    def test_that_is_no_json_object_gives_up(self, proxied: Proxied) -> None:
        if proxied.name == "http":
            pytest.skip("an endpoint gets any body")
        for run, body in enumerate((b"no JSON", b"[1]", b'"\\ud800"', b'{"a": "\\ud800"}')):
            answer = proxied.deliver(run, body=body)
            assert answer.outcome == (200, "gave_up")
            assert not proxied.stand_in.api.starts

    def test_goes_to_an_endpoint_as_it_is(self, proxied: Proxied) -> None:
        if proxied.name != "http":
            pytest.skip("only an endpoint gets any body")
        assert proxied.deliver(body=b'{"a": 1}').outcome == (200, "processed")
        [request] = proxied.stand_in.requests
        assert request.body == {"a": 1}
        assert request.headers["content-type"] == "application/json"
