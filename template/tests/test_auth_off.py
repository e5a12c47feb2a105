"""Choosing an authenticator, and the mode `off` (R33). Holds for a project with any mode."""

import subprocess
import sys

import pytest

from app.auth import SUPPORTED, Unauthenticated, open_authenticator, problems

AUDIENCE = "https://nightly-report-abc123-uc.a.run.app"
ACCOUNT = "nightly-report-job@my-project.iam.gserviceaccount.com"


class TestOff:
    def test_accepts_a_request_without_any_header(self) -> None:
        """R33: `off` is for one's own machine; the settings refuse it on a platform."""
        open_authenticator("off", audience="", service_account="").authenticate({})

    def test_does_not_even_read_a_token(self) -> None:
        """R33."""
        authenticator = open_authenticator("off", audience=AUDIENCE, service_account=ACCOUNT)
        authenticator.authenticate({"authorization": ("Bearer nonsense", "twice")})

    def test_is_in_every_project(self) -> None:
        """R33."""
        assert "off" in SUPPORTED


class TestChoice:
    @pytest.mark.parametrize("mode", [mode for mode in SUPPORTED if mode != "off"])
    def test_each_supported_mode_trusts_a_token_or_the_platform_alone(self, mode: str) -> None:
        """R33, R07: the Scheduler headers pass only where the platform has checked the caller."""
        authenticator = open_authenticator(mode, audience=AUDIENCE, service_account=ACCOUNT)
        if any("AUTH_SERVICE_ACCOUNT" in problem for problem in problems(mode, {})):
            with pytest.raises(Unauthenticated):
                authenticator.authenticate({"x-cloudscheduler": ("true",)})
        else:
            authenticator.authenticate({"x-cloudscheduler": ("true",)})
            assert "GAE_ENV is not set" in str(problems(mode, {}))

    @pytest.mark.parametrize("mode", ["", "OFF", "none", "iam ", "os", "../iam"])
    def test_an_unknown_mode_is_refused_with_the_supported_ones_and_the_question(
        self, mode: str
    ) -> None:
        """R33: a misspelt mode must never be taken for `off`."""
        with pytest.raises(ValueError, match="`auth`") as refused:
            open_authenticator(mode, audience=AUDIENCE, service_account=ACCOUNT)
        assert all(supported in str(refused.value) for supported in SUPPORTED)

    def test_a_mode_costs_nothing_until_it_is_chosen(self) -> None:
        """R33: only the chosen module is imported, and what it needs with it."""
        script = (
            "import sys, app.auth as auth\n"
            "auth.open_authenticator('off', audience='', service_account='')\n"
            "modes = [f'app.auth.{name}'.replace('-', '_') for name in auth.SUPPORTED]\n"
            "print([mode for mode in modes if mode in sys.modules])\n"
            "print('google.auth' in sys.modules, 'requests' in sys.modules)\n"
        )
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert ran.stdout.split("\n")[:2] == ["[]", "False False"]
