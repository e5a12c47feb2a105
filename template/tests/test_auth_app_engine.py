"""`AUTH=app-engine`: App Engine has checked the caller, or the service does not start (R33)."""

from collections.abc import Mapping

import pytest

from app.auth import open_authenticator, problems


class TestStart:
    def test_is_refused_elsewhere(self) -> None:
        """R33: without App Engine in front, everybody could start runs."""
        (problem,) = problems("app-engine", {})
        assert "GAE_ENV is not set" in problem
        assert "AUTH=off" in problem

    @pytest.mark.parametrize("environ", [{"K_SERVICE": "nightly"}, {"GAE_ENV": ""}])
    def test_is_refused_on_another_platform(self, environ: Mapping[str, str]) -> None:
        """R33: Cloud Run knows nothing of `login: admin`."""
        assert problems("app-engine", environ)

    def test_needs_nothing_but_app_engine(self) -> None:
        """R33."""
        assert not problems("app-engine", {"GAE_ENV": "standard"})


def test_a_request_is_accepted_as_app_engine_has_let_it_through() -> None:
    """R33, R07: no header is looked at, as none of those that are documented proves anything."""
    authenticator = open_authenticator("app-engine", audience="", service_account="")
    authenticator.authenticate({})
