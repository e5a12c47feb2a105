"""What is refused, in which order, and what the refusal says (R04, R33, design of the answers)."""

import pytest

from tests.support.servers.places import on_every_framework
from tests.support.servers.site import Scheduled, Site, wish
from tests.support.servers.variants import TOKENS
from tests.support.servers.wire import Answer, Fields, RawConnection, send

LIMIT = 1024 * 1024
TOO_MUCH = b"x" * (LIMIT + 1)

pytestmark = on_every_framework


@pytest.mark.usefixtures("untouched")
class TestAPathThatDoesNotExist:
    @pytest.mark.parametrize(
        "target",
        ["/nothing", "//", "/health/", "/Health", "/%3F", "/%23", "/run?job=1", "/projects/p"],
    )
    def test_is_not_found(self, site: Site, run: Scheduled, target: str) -> None:
        answer = site.deliver(run, target=target)
        assert answer.outcome == (404, "rejected")
        assert "/" in answer.reason

    def test_is_not_found_whatever_else_is_wrong(self, site: Site) -> None:
        """The path comes first: before method, size, caller and identity."""
        fields = wish({"auth": TOKENS})
        assert send(site.server.port, "PUT", "/nothing", fields, TOO_MUCH).status == 404

    @pytest.mark.parametrize("host", [b"x/?", b"x/health?", b"x/#", b"[", b"", b"\xff"])
    def test_does_not_come_into_being_by_another_host(
        self, site: Site, run: Scheduled, host: bytes
    ) -> None:
        """The request's target alone says what is asked for."""
        lines = [b"POST /nothing HTTP/1.1", b"Host: " + host, b"Connection: close"]
        lines += [b"%s: %s" % field for field in run.raw_fields()]
        with RawConnection(site.server.port) as connection:
            connection.write(b"\r\n".join([*lines, b"Content-Length: 0", b"", b""]))
            assert connection.answer().status in (400, 404)


@pytest.mark.usefixtures("untouched")
class TestAMethodThatIsNotPost:
    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    def test_is_not_allowed(self, site: Site, run: Scheduled, method: str) -> None:
        answer = send(site.server.port, method, "/", run.fields())
        assert answer.outcome == (405, "rejected")
        assert answer.headers["Allow"] == "POST"
        assert method in answer.reason

    def test_is_answered_without_a_body_if_it_is_head(self, site: Site, run: Scheduled) -> None:
        answer = send(site.server.port, "HEAD", "/", run.fields())
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")

    def test_is_not_allowed_whatever_else_is_wrong(self, site: Site) -> None:
        """The method comes before size, caller and identity."""
        fields = wish({"auth": TOKENS})
        assert send(site.server.port, "PUT", "/", fields, TOO_MUCH).status == 405


@pytest.mark.usefixtures("untouched")
class TestABodyOfMoreThanAMebibyte:
    def test_is_too_large(self, site: Site, run: Scheduled) -> None:
        answer = send(site.server.port, "POST", "/", run.fields(), TOO_MUCH)
        assert answer.outcome == (413, "rejected")
        assert str(LIMIT) in answer.reason

    def test_is_too_large_whoever_sends_it(self, site: Site) -> None:
        """The size comes before caller and identity."""
        answer = send(site.server.port, "POST", "/", wish({"auth": TOKENS}), TOO_MUCH)
        assert answer.status == 413


def knock(site: Site, token: str, fields: Fields) -> Answer:
    sent = [*fields, *wish({"auth": TOKENS})]
    if token:
        sent.append(("Authorization", f"Bearer {token}"))
    return send(site.server.port, "POST", "/", sent)


@pytest.mark.usefixtures("untouched")
class TestACaller:
    @pytest.mark.parametrize("token", ["", "bad"])
    def test_without_a_good_token_is_asked_for_one(
        self, site: Site, run: Scheduled, token: str
    ) -> None:
        """R33, R07: the Scheduler headers prove nothing."""
        answer = knock(site, token, run.fields())
        assert answer.outcome == (401, "rejected")
        assert answer.headers["WWW-Authenticate"] == "Bearer"

    def test_with_another_account_is_forbidden(self, site: Site, run: Scheduled) -> None:
        """R33."""
        answer = knock(site, "other", run.fields())
        assert answer.outcome == (403, "rejected")
        assert answer.headers["WWW-Authenticate"] is None

    def test_whose_token_cannot_be_checked_now_is_to_come_again(
        self, site: Site, run: Scheduled
    ) -> None:
        """R33: 500, never 503."""
        assert knock(site, "unclear", run.fields()).outcome == (500, "unavailable")

    @pytest.mark.parametrize(("token", "status"), [("", 401), ("other", 403), ("good", 400)])
    def test_is_looked_at_before_the_identity(self, site: Site, token: str, status: int) -> None:
        assert knock(site, token, []).status == status


def test_a_caller_with_a_good_token_starts_the_run(site: Site, run: Scheduled) -> None:
    """R33."""
    assert knock(site, "good", run.fields()).outcome == (200, "processed")


@pytest.mark.usefixtures("untouched")
class TestHealth:
    def test_is_reported(self, site: Site) -> None:
        answer = send(site.server.port, "GET", "/health?from=probe")
        assert answer.outcome == (200, "healthy")

    def test_is_reported_to_head_without_a_body(self, site: Site) -> None:
        assert send(site.server.port, "HEAD", "/health").status == 200

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
    def test_is_not_for_other_methods(self, site: Site, run: Scheduled, method: str) -> None:
        answer = send(site.server.port, method, "/health", run.fields())
        assert answer.outcome == (405, "rejected")
        assert answer.headers["Allow"] == "GET"

    def test_needs_neither_store_nor_token(self, site: Site) -> None:
        """R33, R41: a store that cannot be reached makes no instance unhealthy."""
        fields = wish({"auth": TOKENS, "run_store_url": "sqlite:////dev/null/runs.db"})
        assert send(site.server.port, "GET", "/health", fields).outcome == (200, "healthy")
