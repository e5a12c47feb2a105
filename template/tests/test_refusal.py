"""What is refused before anything is done, in which order and why (R04, R05, R07, R33)."""

from typing import Any

import pytest

from app.auth import CannotVerify, Forbidden, Unauthenticated
from app.dedup.delivery import Headers, JobScope
from app.service import BODY_LIMIT
from tests.support.service import SCHEDULED, Answer, Caller, LocalService, never
from tests.support.stores.sqlite import SqliteHarness

WRONG: dict[str, Any] = {
    "method": "PUT",
    "path": "/nothing",
    "body": b"x" * (BODY_LIMIT + 1),
    "headers": {},
}
STRANGER = Caller(Unauthenticated("there is no token"))
OTHER_ACCOUNT = Caller(Forbidden("the token is somebody else's"))
NO_CERTIFICATES = Caller(CannotVerify("the certificates cannot be fetched"))


@pytest.fixture
def harness(sqlite_harness: SqliteHarness) -> SqliteHarness:
    return sqlite_harness


class TestOrder:
    """Everything about the request is wrong; what is put right lets the next refusal show."""

    @pytest.mark.parametrize(
        ("right", "status"),
        [
            ([], 404),
            (["path"], 405),
            (["path", "method"], 413),
            (["path", "method", "body"], 401),
        ],
    )
    def test_is_path_method_size_caller(
        self, harness: SqliteHarness, right: list[str], status: int
    ) -> None:
        """R33."""
        request = {name: value for name, value in WRONG.items() if name not in right}
        answer = LocalService(harness, never, caller=STRANGER).handle(**request)
        assert answer.outcome == (status, "rejected")

    @pytest.mark.parametrize(
        ("caller", "outcome"),
        [
            (STRANGER, (401, "rejected")),
            (OTHER_ACCOUNT, (403, "rejected")),
            (NO_CERTIFICATES, (500, "unavailable")),
        ],
    )
    def test_has_the_identity_last(
        self, harness: SqliteHarness, caller: Caller, outcome: tuple[int, str]
    ) -> None:
        """R33: who may not call learns nothing about the headers."""
        assert LocalService(harness, never, caller=caller).handle(headers={}).outcome == outcome
        assert LocalService(harness, never).handle(headers={}).outcome == (400, "rejected")


class TestRefusal:
    def refused(self, harness: SqliteHarness, caller: Caller | None = None, **wrong: Any) -> Answer:
        """Return the answer to a request with one fault; it must not reach the store."""
        more: dict[str, Any] = {"caller": caller} if caller else {}
        answer = LocalService(harness, never, **more).handle(**wrong)
        assert answer.body["outcome"] == "rejected"
        assert answer.body.keys() == {"outcome", "reason"}
        assert not harness.faults.calls
        return answer

    @pytest.mark.parametrize("path", ["/nothing", "//", "/healthz", "/health/", "/projects/p"])
    def test_of_a_path(self, harness: SqliteHarness, path: str) -> None:
        """R05."""
        assert self.refused(harness, path=path).status == 404

    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "post"])
    def test_of_a_method_names_the_right_one(self, harness: SqliteHarness, method: str) -> None:
        """R04."""
        answer = self.refused(harness, method=method)
        assert answer.status == 405
        assert answer.headers["Allow"] == "POST"

    def test_of_a_body_of_more_than_a_mebibyte(self, harness: SqliteHarness) -> None:
        """R04: exactly a mebibyte, which Scheduler allows, is none too much."""
        assert self.refused(harness, body=b"x" * (BODY_LIMIT + 1)).status == 413
        assert LocalService(harness).handle(body=b"x" * 1024 * 1024).status == 200

    def test_of_a_caller_without_a_good_token(self, harness: SqliteHarness) -> None:
        """R07, R33: perfect Scheduler headers do not help."""
        answer = self.refused(harness, STRANGER)
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.body["reason"] == "there is no token"

    def test_of_another_account(self, harness: SqliteHarness) -> None:
        """R33."""
        answer = self.refused(harness, OTHER_ACCOUNT)
        assert answer.status == 403
        assert "WWW-Authenticate" not in answer.headers

    @pytest.mark.parametrize("header", SCHEDULED)
    @pytest.mark.parametrize("values", [(), ("",), ("every 5 minutes",), ("a", "a")])
    def test_of_an_identity_names_the_header(
        self, harness: SqliteHarness, header: str, values: tuple[str, ...]
    ) -> None:
        """R04: missing, malformed or repeated."""
        answer = self.refused(harness, headers={**SCHEDULED, header: values})
        assert answer.status == 400
        assert header in answer.body["reason"].lower()

    @pytest.mark.parametrize("path", ["/", "/projects/p", "/projects/p/locations/NOT-ONE"])
    def test_of_a_scope_that_the_path_has_not(self, harness: SqliteHarness, path: str) -> None:
        """R05: 400 and not 404, with the form that is expected."""
        answer = LocalService(harness, never, job_scope=JobScope.PATH).handle(path=path)
        assert answer.outcome == (400, "rejected")
        assert "path" in answer.body["reason"]
        assert not harness.faults.calls

    def test_without_certificates_is_none_and_is_tried_again(
        self, harness: SqliteHarness, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R33: an outage of Google's keys says nothing about the caller; the log has its cause."""
        answer = LocalService(harness, never, caller=NO_CERTIFICATES).handle()
        assert answer.outcome == (500, "unavailable")
        assert answer.body["reason"] == "the certificates cannot be fetched"
        assert [record.levelname for record in caplog.records if record.exc_info] == ["ERROR"]
        assert not harness.faults.calls


class TestHealth:
    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_needs_neither_a_caller_nor_the_store(
        self, harness: SqliteHarness, method: str
    ) -> None:
        """R33."""
        service = LocalService(harness, never, caller=STRANGER)
        assert service.handle(method, "/health", headers={}).outcome == (200, "healthy")
        assert not harness.faults.calls

    def test_runs_nothing_by_post(self, harness: SqliteHarness) -> None:
        """R33: it is no way around the authentication."""
        answer = LocalService(harness, never, caller=STRANGER).handle("POST", "/health")
        assert answer.outcome == (405, "rejected")
        assert answer.headers["Allow"] == "GET"

    def test_is_no_run_path_of_any_scope(self, harness: SqliteHarness) -> None:
        """R05."""
        headers: Headers = {**SCHEDULED, "x-job-project": ("p",), "x-job-location": ("l",)}
        for scope in JobScope:
            service = LocalService(harness, never, job_scope=scope)
            assert service.handle("POST", "/health", headers=headers).status == 405
