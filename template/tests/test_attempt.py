"""What the job gets of a request, and what becomes of what it returns (R06, R09, R13, R20)."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.dedup import Attempt, GiveUp
from app.dedup.delivery import Headers, JobScope
from tests.support.clock import NOON
from tests.support.service import RUN_ID, SCHEDULED, LocalService, never
from tests.support.stores.sqlite import SqliteHarness

AHEAD: Headers = {**SCHEDULED, "x-cloudscheduler-scheduletime": ("2026-10-16T12:15:00Z",)}
"""The headers of a delivery a quarter of an hour before its time."""


@pytest.fixture
def harness(sqlite_harness: SqliteHarness) -> SqliteHarness:
    return sqlite_harness


def attempt_of(harness: SqliteHarness, request: dict[str, Any], **changes: Any) -> Attempt:
    """Return what the job got of a request."""
    seen: list[Attempt] = []
    answer = LocalService(harness, seen.append, **changes).handle(**request)
    assert answer.outcome == (200, "processed")
    return seen[0]


class TestAttempt:
    def test_says_which_run_it_is(self, harness: SqliteHarness) -> None:
        """R01, R03: the time is aware and in UTC, whatever the header's offset."""
        attempt = attempt_of(harness, {})
        assert attempt.run_id == RUN_ID
        assert attempt.job_name == "nightly"
        assert attempt.schedule_time == NOON
        assert attempt.schedule_time.tzinfo is UTC
        assert (attempt.project, attempt.location) == ("", "")
        assert attempt.forced is False
        assert attempt.recovered is False

    def test_has_the_scope(self, harness: SqliteHarness) -> None:
        """R05."""
        attempt = attempt_of(harness, {"path": "/projects/p/locations/l"}, job_scope=JobScope.PATH)
        assert (attempt.project, attempt.location) == ("p", "l")

    def test_has_an_id_of_its_own(self, harness: SqliteHarness) -> None:
        """R10: 128 random bits, not a host's name (bug 18)."""
        first = attempt_of(harness, {}).attempt_id
        harness.erase(RUN_ID)
        assert first != attempt_of(harness, {}).attempt_id
        assert len(bytes.fromhex(first)) == 16

    def test_has_a_fence_that_rises_with_every_claim(self, harness: SqliteHarness) -> None:
        """R10: also where the record was deleted in between, and the clock stands still."""
        fences = []
        for _ in range(3):
            fences.append(attempt_of(harness, {}).fence)
            harness.erase(RUN_ID)
        assert all(type(fence) is int for fence in fences)
        assert fences == sorted(set(fences))

    def test_has_the_end_of_the_requests_time(self, harness: SqliteHarness) -> None:
        """R18: counted from the arrival, so a wait in the server's queue is in it."""
        attempt = attempt_of(harness, {"waited": 10.0}, request_timeout=180.0)
        assert attempt.deadline == NOON + timedelta(seconds=170)
        assert attempt.deadline.tzinfo is UTC

    def test_begins_undisturbed(self, harness: SqliteHarness) -> None:
        """R19, R27."""
        attempt = attempt_of(harness, {})
        assert not attempt.lost.is_set()
        assert not attempt.stopping.is_set()
        attempt.check()

    def test_knows_of_an_earlier_one(self, harness: SqliteHarness) -> None:
        """R13."""
        harness.plant(
            RUN_ID, {"status": "in_progress", "attempt_id": "b" * 32, "lease_seconds": 60.0}
        )
        harness.pass_time(60.0)
        assert attempt_of(harness, {}).recovered is True

    def test_has_the_request(self, harness: SqliteHarness) -> None:
        """R33: but not its token, wherever Cloud Run takes it from."""
        tokens = dict.fromkeys(("authorization", "x-serverless-authorization"), ("Bearer x",))
        headers = {**SCHEDULED, **tokens, "x-a": ("1",), "x-b": ("1", "2")}
        attempt = attempt_of(harness, {"body": b"\x00\xff", "headers": headers})
        assert attempt.body == b"\x00\xff"
        assert attempt.headers == {
            "x-cloudscheduler-jobname": "nightly",
            "x-cloudscheduler-scheduletime": "2026-10-16T05:00:00-07:00",
            "x-a": "1",
            "x-b": "1, 2",
        }

    def test_may_change_its_headers_without_changing_the_key(self, harness: SqliteHarness) -> None:
        """R08: the finish meets the record that was claimed (bug 11)."""
        headers = {**SCHEDULED, "x-a": ("1",)}

        def job(attempt: Attempt) -> None:
            attempt.headers.clear()
            attempt.headers["x-cloudscheduler-jobname"] = "another"

        first = LocalService(harness, job).handle(headers=headers)
        assert first.body["run_id"] == RUN_ID
        assert headers == {**SCHEDULED, "x-a": ("1",)}
        assert LocalService(harness, never).handle().outcome == (200, "duplicate")


class TestForcedRun:
    def test_is_told_apart_and_leaves_the_scheduled_run_to_come(
        self, harness: SqliteHarness
    ) -> None:
        """R06."""
        early = attempt_of(harness, {"headers": AHEAD})
        harness.pass_time(900.0)
        on_time = attempt_of(harness, {"headers": AHEAD})
        assert (early.forced, on_time.forced) == (True, False)
        assert early.run_id != on_time.run_id
        assert early.schedule_time == on_time.schedule_time

    def test_counts_once_however_often_it_is_forced(self, harness: SqliteHarness) -> None:
        """R06: before the same time."""
        attempt_of(harness, {"headers": AHEAD})
        harness.pass_time(60.0)
        assert LocalService(harness, never).handle(headers=AHEAD).outcome == (200, "duplicate")

    def test_is_the_scheduled_run_itself_where_the_two_share_a_key(
        self, harness: SqliteHarness
    ) -> None:
        """R06: the behaviour that Google documents."""
        early = attempt_of(harness, {"headers": AHEAD}, separate_forced_runs=False)
        assert early.forced is False
        harness.pass_time(900.0)
        service = LocalService(harness, never, separate_forced_runs=False)
        on_time = service.handle(headers=AHEAD)
        assert on_time.outcome == (200, "duplicate")
        assert on_time.body["run_id"] == early.run_id


class TestAsyncJob:
    def test_is_awaited(self, harness: SqliteHarness) -> None:
        """R18."""

        async def job(attempt: Attempt) -> dict[str, object]:
            await asyncio.sleep(0)
            return {"job": attempt.job_name}

        assert LocalService(harness, job).handle().body["result"] == {"job": "nightly"}

    def test_may_raise_what_a_plain_one_may(self, harness: SqliteHarness) -> None:
        """R23."""

        async def job(attempt: Attempt) -> None:
            await asyncio.sleep(0)
            raise GiveUp("no such table")

        assert LocalService(harness, job).handle().outcome == (200, "gave_up")


class TestResult:
    @pytest.mark.parametrize(
        "result",
        [
            {},
            {"rows": 3, "share": 0.5, "ok": True, "none": None, "tags": ["a", {"b": []}]},
            {"name": 'Gr\u00fc\u00dfe \U0001f600 \u2028 \x00 "quoted" \\'},
            {"x": "a" * 1016},
            {"x": "\u00e4" * 508},
        ],
    )
    def test_is_kept_and_shown_up_to_1024_bytes(
        self, harness: SqliteHarness, result: dict[str, object]
    ) -> None:
        """R20: bytes of JSON without white space, in UTF-8."""
        assert LocalService(harness, lambda attempt: result).handle().body["result"] == result
        assert LocalService(harness, never).handle().body["result"] == result

    @pytest.mark.parametrize(
        "result",
        [
            {"x": "a" * 1017},
            {"x": "\u00e4" * 508 + "a"},
            {"x": float("nan")},
            {"x": float("inf")},
            {"x": {1, 2}},
            {"x": b"bytes"},
            {"x": datetime(2026, 10, 16, tzinfo=UTC)},
            {"x": "\ud800"},
            {"\udfff": "x"},
            {("a", "b"): 1},
            [],
            ["a"],
            "text",
            0,
            True,
        ],
    )
    def test_of_another_kind_or_size_is_dropped_with_a_warning(
        self, harness: SqliteHarness, result: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R20: the work is done all the same, and stays done."""
        first = LocalService(harness, lambda attempt: result).handle()
        assert first.body == {"outcome": "processed", "run_id": RUN_ID}
        assert LocalService(harness, never).handle().body == {**first.body, "outcome": "duplicate"}
        (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert "result is not kept" in warning.getMessage()

    def test_that_contains_itself_is_dropped(self, harness: SqliteHarness) -> None:
        """R20."""
        result: dict[str, object] = {}
        result["self"] = result
        answer = LocalService(harness, lambda attempt: result).handle()
        assert answer.body == {"outcome": "processed", "run_id": RUN_ID}

    def test_that_is_nested_too_deeply_is_dropped(self, harness: SqliteHarness) -> None:
        """R20."""
        result: dict[str, object] = {}
        for _ in range(100_000):
            result = {"x": result}
        answer = LocalService(harness, lambda attempt: result).handle()
        assert answer.body == {"outcome": "processed", "run_id": RUN_ID}

    def test_of_none_is_none(self, harness: SqliteHarness) -> None:
        """R20: nothing to keep is nothing to warn of."""
        assert "result" not in LocalService(harness, lambda attempt: None).handle().body
