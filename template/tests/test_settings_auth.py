"""A service that anybody could start, or that would run every run twice, does not start (R33)."""

import pytest

from app import auth
from tests.support.settings import ACCOUNT, AUDIENCE, errors

MODES = [mode for mode in auth.SUPPORTED if mode != auth.OFF]
PLATFORMS = {"K_SERVICE": "nightly", "GAE_ENV": "standard"}
NEEDS = {**PLATFORMS, "AUTH_AUDIENCE": AUDIENCE, "AUTH_SERVICE_ACCOUNT": ACCOUNT}
STORE = {"RUN_STORE_URL": "sqlite:///runs.db"}
COMPLETE = {**STORE, "AUTH_SERVICE_ACCOUNT": ACCOUNT, "AUTH_AUDIENCE": AUDIENCE}


def needs(mode: str) -> list[str]:
    """The variables that the mode misses in an empty environment."""
    problems = auth.problems(mode, {})
    return [name for name in NEEDS if any(f"{name} is not set" in text for text in problems)]


def environ(mode: str) -> dict[str, str]:
    """What the mode needs, and no more."""
    return {**STORE, "AUTH": mode, **{name: NEEDS[name] for name in needs(mode)}}


def about_auth(environ: dict[str, str]) -> list[str]:
    return [error for error in errors(environ) if "SQLite" not in error]


NEEDED = [(mode, name) for mode in MODES for name in needs(mode)]


class TestAuth:
    @pytest.mark.parametrize("mode", MODES)
    def test_is_complete_with_what_the_mode_needs(self, mode: str) -> None:
        """R33."""
        assert not about_auth(environ(mode))

    @pytest.mark.parametrize("mode", MODES)
    def test_needs_the_platform_or_the_audience(self, mode: str) -> None:
        """R33: claims that no platform has verified are worth nothing."""
        assert {*PLATFORMS, "AUTH_AUDIENCE"} & set(needs(mode))

    @pytest.mark.parametrize("mode", MODES)
    def test_needs_the_jobs_account_where_the_caller_has_a_token(self, mode: str) -> None:
        """R33: else every account of the world that has a token would do."""
        assert ("AUTH_SERVICE_ACCOUNT" in needs(mode)) == ("GAE_ENV" not in needs(mode))

    @pytest.mark.parametrize(("mode", "name"), NEEDED)
    @pytest.mark.parametrize("value", [None, ""])
    def test_is_refused_without_any_of_it(self, mode: str, name: str, value: str | None) -> None:
        """R33: an empty variable, as tools for containers pass on unset ones, is none."""
        without = {key: needed for key, needed in environ(mode).items() if key != name}
        (error,) = about_auth(without if value is None else without | {name: value})
        assert f"{name} is not set" in error
        assert mode in error

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
