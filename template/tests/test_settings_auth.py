"""A service that anybody could start, or that would run every run twice, does not start (R33)."""

import pytest

from app import auth
from app.auth import open_authenticator
from tests.support.settings import ACCOUNT, AUDIENCE, errors

MODES = [mode for mode in auth.SUPPORTED if mode != auth.OFF]
PLATFORMS = ["K_SERVICE", "GAE_ENV"]
COMPLETE = {
    "RUN_STORE_URL": "sqlite:///runs.db",
    "AUTH_SERVICE_ACCOUNT": ACCOUNT,
    "AUTH_AUDIENCE": AUDIENCE,
}


def trusts_the_platform(mode: str) -> bool:
    """Tell whether the mode leaves a token's audience to the platform's own check."""
    try:
        open_authenticator(mode, audience="", service_account=ACCOUNT)
    except ValueError:
        return False
    return True


def environ(mode: str) -> dict[str, str]:
    """Return what the mode needs, on its platform if it trusts one."""
    platform = {"K_SERVICE": "nightly"} if trusts_the_platform(mode) else {}
    return {**COMPLETE, **platform, "AUTH": mode}


def about_auth(environ: dict[str, str]) -> list[str]:
    return [error for error in errors(environ) if "SQLite" not in error]


class TestAuth:
    @pytest.mark.parametrize("mode", MODES)
    def test_is_complete_with_what_the_mode_needs(self, mode: str) -> None:
        """R33."""
        assert not about_auth(environ(mode))

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("account", [{}, {"AUTH_SERVICE_ACCOUNT": ""}])
    def test_needs_the_jobs_account(self, mode: str, account: dict[str, str]) -> None:
        """R33: else every account of the world that has a token would do."""
        without = environ(mode)
        del without["AUTH_SERVICE_ACCOUNT"]
        (error,) = about_auth(without | account)
        assert error.startswith("AUTH_SERVICE_ACCOUNT is not set")

    @pytest.mark.parametrize("mode", MODES)
    def test_needs_the_platform_or_the_audience(self, mode: str) -> None:
        """R33: claims that no platform has verified are worth nothing."""
        without = environ(mode)
        needed = "K_SERVICE" if trusts_the_platform(mode) else "AUTH_AUDIENCE"
        del without[needed]
        (error,) = about_auth(without)
        assert f"{needed} is not set" in error
        assert mode in error

    @pytest.mark.parametrize("mode", MODES)
    def test_trusts_no_platform_without_a_name(self, mode: str) -> None:
        """R33: an empty variable, as tools for containers pass on unset ones, is none."""
        found = about_auth({**environ(mode), "K_SERVICE": ""})
        assert any("K_SERVICE" in error for error in found) == trusts_the_platform(mode)

    @pytest.mark.parametrize("platform", PLATFORMS)
    @pytest.mark.parametrize("value", ["", "nightly"])
    def test_off_is_refused_on_a_platform(self, platform: str, value: str) -> None:
        """R33: everybody could start runs there."""
        (error,) = about_auth(COMPLETE | {"AUTH": "off", platform: value})
        assert platform in error
        assert f"use AUTH={MODES[0]}" in error

    @pytest.mark.parametrize("mode", ["", "OFF", "none", "off "])
    def test_that_the_project_has_not_is_refused_with_those_it_has(self, mode: str) -> None:
        """R33: one mistake, one line, and the question that adds a mode."""
        (error,) = errors({**COMPLETE, "AUTH": mode})
        assert error.startswith(f"AUTH is '{mode}'")
        assert all(supported in error for supported in auth.SUPPORTED)
        assert "`auth`" in error


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    "url",
    ["sqlite:///runs.db", "SQLite:///runs.db", " sqlite:///runs.db", "sqlite\t:///runs.db"],
)
def test_a_file_is_no_store_on_a_platform(platform: str, url: str) -> None:
    """R41: its instances do not share a disk; a URL's scheme has no case."""
    found = errors({**COMPLETE, "AUTH": "off", "RUN_STORE_URL": url, platform: "default"})
    assert sum("RUN_STORE_URL" in error for error in found) == 1
