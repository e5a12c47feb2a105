"""One request and its answer, without a server in between (design of the HTTP interface)."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from app.dedup import Attempt, GiveUp, OutcomeUnknown
from app.dedup.record import Status
from app.dedup.store import Claim, ClaimAnswer, Lost, Run, StoreError, Terms
from app.dedup.stores.sqlite import SqliteStore
from app.service import Request, create_service
from tests.support.logs import own_root_logger
from tests.support.service import RUN_ID, SCHEDULED, Caller, LocalService, kind, never
from tests.support.stores.sqlite import SqliteHarness

OTHER = {"status": "in_progress", "attempt_id": "b" * 32, "lease_seconds": 60.0}


@pytest.fixture
def harness(sqlite_harness: SqliteHarness) -> SqliteHarness:
    return sqlite_harness


class Broken(SqliteStore):
    """A store whose chosen operations fail."""

    def __init__(self, harness: SqliteHarness, error: Exception, *operations: str) -> None:
        super().__init__(harness.path, harness.fake.clock)
        self._failing = dict.fromkeys(operations, error)

    def claim(self, run: Run, attempt_id: str, terms: Terms, *, timeout: float) -> ClaimAnswer:
        self._fail("claim")
        return super().claim(run, attempt_id, terms, timeout=timeout)

    def finish(
        self, claim: Claim, status: Status, result: str | None, *, timeout: float
    ) -> Lost | None:
        self._fail("finish")
        return super().finish(claim, status, result, timeout=timeout)

    def release(self, claim: Claim, *, settle: float | None, timeout: float) -> Lost | None:
        self._fail("release")
        return super().release(claim, settle=settle, timeout=timeout)

    def _fail(self, operation: str) -> None:
        if operation in self._failing:
            raise self._failing[operation]


def raises(error: BaseException) -> Callable[[Attempt], None]:
    def job(attempt: Attempt) -> None:
        raise error

    return job


class TestAnswersOfARun:
    def test_processed(self, harness: SqliteHarness) -> None:
        """R20."""
        answer = LocalService(harness, lambda attempt: {"rows": 3}).handle()
        assert answer.outcome == (200, "processed")
        assert answer.body == {"outcome": "processed", "run_id": RUN_ID, "result": {"rows": 3}}

    def test_duplicate(self, harness: SqliteHarness) -> None:
        """R11: with the result that the first one kept."""
        LocalService(harness, lambda attempt: {"rows": 3}).handle()
        answer = LocalService(harness, never).handle()
        assert answer.outcome == (200, "duplicate")
        assert answer.body == {"outcome": "duplicate", "run_id": RUN_ID, "result": {"rows": 3}}

    def test_gave_up_at_once_and_for_later_duplicates(self, harness: SqliteHarness) -> None:
        """R23: 200, so that Scheduler stops."""
        first = LocalService(harness, raises(GiveUp("no such table"))).handle()
        later = LocalService(harness, never).handle()
        told = {"outcome": "gave_up", "run_id": RUN_ID, "reason": "no such table"}
        assert first.body == later.body == told
        assert first.status == later.status == 200

    def test_in_progress(self, harness: SqliteHarness) -> None:
        """R12: 409, never 503."""
        harness.plant(RUN_ID, OTHER)
        answer = LocalService(harness, never).handle()
        assert answer.outcome == (409, "in_progress")
        assert answer.body["run_id"] == RUN_ID
        assert answer.headers["Retry-After"] == "60"

    def test_lost_to_another_attempt_at_work(self, harness: SqliteHarness) -> None:
        """R24."""
        answer = LocalService(harness, lambda attempt: harness.edit(RUN_ID, OTHER)).handle()
        assert answer.outcome == (409, "lost")
        assert answer.headers["Retry-After"] == "60"

    @pytest.mark.parametrize(
        ("status", "outcome"), [("completed", "duplicate"), ("failed", "gave_up")]
    )
    def test_lost_to_an_attempt_that_ended_the_run(
        self, harness: SqliteHarness, status: str, outcome: str
    ) -> None:
        """R24: 200, because somebody has finished it."""
        ended = {**OTHER, "status": status}
        answer = LocalService(harness, lambda attempt: harness.edit(RUN_ID, ended)).handle()
        assert answer.outcome == (200, outcome)

    def test_lost_to_nobody(self, harness: SqliteHarness) -> None:
        """R24: never a 200 while nobody has finished the run."""
        answer = LocalService(harness, lambda attempt: harness.erase(RUN_ID)).handle()
        assert answer.outcome == (500, "lost")
        assert answer.body["run_id"] == RUN_ID
        assert "Retry-After" not in answer.headers

    @pytest.mark.parametrize("error", [ValueError("hidden"), StoreError("hidden"), SystemExit(1)])
    def test_failed(self, harness: SqliteHarness, error: BaseException) -> None:
        """R21: the answer names the kind of the exception, not what it says."""
        answer = LocalService(harness, raises(error)).handle()
        assert answer.outcome == (500, "failed")
        assert answer.body["reason"] == f"the job raised {type(error).__name__}"
        assert harness.raw(RUN_ID) is None

    def test_failed_whatever_becomes_of_the_release(self, harness: SqliteHarness) -> None:
        """R21; weakness 5: the job's own error is the one that is told."""
        store = Broken(harness, StoreError("no route to the store"), "release")
        answer = LocalService(harness, raises(ValueError("no rows")), store=store).handle()
        assert answer.outcome == (500, "failed")
        assert "ValueError" in answer.body["reason"]

    def test_failed_with_an_unknown_outcome(self, harness: SqliteHarness) -> None:
        """R22."""
        answer = LocalService(harness, raises(OutcomeUnknown("timed out"))).handle()
        assert answer.body["reason"] == "the outcome of the job is unknown: timed out"
        assert answer.outcome == (500, "failed")
        assert "unknown" in answer.body["reason"]

    def test_failed_because_the_record_was_not_written(self, harness: SqliteHarness) -> None:
        """R25: the answer says that the work was done."""
        store = Broken(harness, StoreError("no route to the store"), "finish")
        answer = LocalService(harness, store=store).handle()
        assert answer.outcome == (500, "failed")
        assert "the work was done" in answer.body["reason"]

    def test_unavailable_without_the_store(self, harness: SqliteHarness) -> None:
        """R25: nothing runs."""
        store = Broken(harness, StoreError("no route to the store"), "claim")
        answer = LocalService(harness, never, store=store).handle()
        assert answer.outcome == (500, "unavailable")
        assert "no route to the store" in answer.body["reason"]

    def test_unavailable_with_a_record_of_unknown_status(self, harness: SqliteHarness) -> None:
        """R17: fail closed."""
        harness.plant(RUN_ID, {"status": "paused"})
        answer = LocalService(harness, never).handle()
        assert answer.outcome == (500, "unavailable")
        assert answer.body["run_id"] == RUN_ID

    def test_unavailable_while_shutting_down(self, harness: SqliteHarness) -> None:
        """R27."""
        service = LocalService(harness, never)
        service.shutdown.begin()
        assert service.handle().outcome == (500, "unavailable")
        assert harness.raw(RUN_ID) is None

    @pytest.mark.parametrize("waited", [30.0, 31.0])
    def test_unavailable_when_the_requests_time_is_over(
        self, harness: SqliteHarness, waited: float
    ) -> None:
        """R26: a claim without time to work would only hold up the next attempt."""
        answer = LocalService(harness, never, request_timeout=30.0).handle(waited=waited)
        assert answer.outcome == (500, "unavailable")
        assert harness.raw(RUN_ID) is None


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("lease", "seconds"),
        [(60.0, "60"), (59.2, "60"), (59.0, "59"), (1.0, "1"), (0.2, "1"), (90_000.0, "3600")],
    )
    def test_is_the_lease_left_rounded_up(
        self, harness: SqliteHarness, lease: float, seconds: str
    ) -> None:
        """R12: never 0, which would bring the retry before the end of the lease."""
        harness.plant(RUN_ID, {**OTHER, "lease_seconds": lease})
        answer = LocalService(harness, never).handle()
        assert answer.outcome == (409, "in_progress")
        assert answer.headers["Retry-After"] == seconds

    def test_gets_less_as_time_passes(self, harness: SqliteHarness) -> None:
        """R12."""
        harness.plant(RUN_ID, OTHER)
        harness.pass_time(45.5)
        assert LocalService(harness, never).handle().headers["Retry-After"] == "15"

    def test_is_finite_where_the_end_of_the_lease_is_unknown(self, harness: SqliteHarness) -> None:
        """R17."""
        harness.plant(RUN_ID, {"status": "in_progress", "written_at": None})
        assert LocalService(harness, never).handle().headers["Retry-After"] == "3600"

    @pytest.mark.parametrize(("lease", "seconds"), [(2.5, "3"), (0.2, "1"), (0.0, "1")])
    def test_of_a_lost_claim_is_rounded_in_the_same_way(
        self, harness: SqliteHarness, lease: float, seconds: str
    ) -> None:
        """R24."""
        other = {**OTHER, "lease_seconds": lease}
        answer = LocalService(harness, lambda attempt: harness.edit(RUN_ID, other)).handle()
        assert answer.outcome == (409, "lost")
        assert answer.headers["Retry-After"] == seconds


class TestEveryAnswer:
    def test_is_json_that_nobody_may_cache(self, harness: SqliteHarness) -> None:
        """R20: a cached 200 would stop the retries of another run."""
        service = LocalService(harness)
        for answer in (service.handle(), service.handle(headers={}), service.handle("GET")):
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.headers["Cache-Control"] == "no-store"


class TestUnexpectedErrors:
    """Faults of the service's own: told apart from the job's, and never a crash of the server."""

    def assert_reported(self, service: LocalService, caplog: pytest.LogCaptureFixture) -> None:
        answer = service.handle()
        assert answer.outcome == (500, "unavailable")
        assert "hidden" not in str(answer.body)
        (record,) = [record for record in caplog.records if record.exc_info]
        assert record.levelno == logging.ERROR
        assert "RuntimeError: hidden" in caplog.text

    def test_of_the_authenticator(
        self, harness: SqliteHarness, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R33: an error lets nobody in."""
        caller = Caller(RuntimeError("hidden"))
        self.assert_reported(LocalService(harness, never, caller=caller), caplog)
        assert not harness.faults.calls

    @pytest.mark.parametrize("operation", ["claim", "finish"])
    def test_of_the_store(
        self, harness: SqliteHarness, operation: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R25: an error that the store does not declare."""
        store = Broken(harness, RuntimeError("hidden"), operation)
        self.assert_reported(LocalService(harness, store=store), caplog)

    def test_do_not_harm_the_next_request(self, harness: SqliteHarness) -> None:
        """R28: the same thread answers it."""
        store = Broken(harness, RuntimeError("hidden"), "claim")
        assert LocalService(harness, never, store=store).handle().status == 500
        assert LocalService(harness).handle().outcome == (200, "processed")


def test_the_environment_alone_makes_a_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R41: no cloud, no account, no emulator."""
    for platform in ("K_SERVICE", "GAE_ENV"):
        monkeypatch.delenv(platform, raising=False)
    monkeypatch.setenv("RUN_STORE_URL", f"sqlite:///{tmp_path}/folder/runs.db")
    monkeypatch.setenv("AUTH", "off")
    monkeypatch.setenv("JOB_SCOPE", "none")
    ran: list[Attempt] = []
    with own_root_logger():
        service = create_service(kind(ran.append))
        answers = [service.handle(Request("POST", "/", {}, SCHEDULED, b"")) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    assert [attempt.job_name for attempt in ran] == ["nightly"]
