"""The environment becomes settings, or one message that lists every error (R08, R18, R41)."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from app import auth, defaults
from app.dedup.delivery import JobScope
from app.dedup.stores import supported_schemes
from app.retry_budget import retry_window
from app.service import WORKER_BOOT_ERROR, create_service
from app.settings import Settings
from tests.support.logs import own_root_logger
from tests.support.settings import ACCOUNT, AUDIENCE, errors

LOCAL = {"RUN_STORE_URL": "sqlite:///runs.db", "AUTH": "off"}
REMOTE_STORES = [scheme for scheme in supported_schemes() if scheme != "sqlite"]


def read(**changes: str) -> Settings:
    """Read a good local environment with changes."""
    return Settings.from_environ(LOCAL | changes)


class TestDefaults:
    def test_are_the_templates_answers(self) -> None:
        """R33: `AUTH` and `RUN_STORE_URL` are what one's own machine has to say."""
        assert read() == Settings(
            service=defaults.SERVICE,
            run_store_url="sqlite:///runs.db",
            job_scope=JobScope(defaults.JOB_SCOPE),
            separate_forced_runs=defaults.FORCED_RUNS == "separate",
            lease=defaults.LEASE_SECONDS,
            retention=defaults.RETENTION_SECONDS,
            request_timeout=defaults.ATTEMPT_DEADLINE_SECONDS,
            auth="off",
            auth_audience="",
            auth_service_account="",
            log_level="INFO",
            gcp_project=defaults.GCP_PROJECT,
        )

    def test_include_an_authentication_that_the_project_has(self) -> None:
        """R33: who says nothing is not open to everybody."""
        assert defaults.AUTH in auth.SUPPORTED
        assert defaults.AUTH != auth.OFF

    def test_include_no_store(self) -> None:
        """R41: records in the wrong place are no records."""
        assert ["RUN_STORE_URL" in error for error in errors({"AUTH": "off"})] == [True]

    def test_are_all_overridden_by_the_environment(self) -> None:
        """R08: staging beside production is one variable."""
        found = read(
            SERVICE="staging",
            JOB_SCOPE="query",
            FORCED_RUNS="shared",
            LEASE_SECONDS="7",
            RETENTION_SECONDS="864000",
            REQUEST_TIMEOUT_SECONDS="30",
            AUTH_AUDIENCE=AUDIENCE,
            AUTH_SERVICE_ACCOUNT=ACCOUNT,
            LOG_LEVEL="DEBUG",
            GOOGLE_CLOUD_PROJECT="staging-project",
        )
        assert asdict(found) == asdict(
            replace(
                read(),
                service="staging",
                job_scope=JobScope.QUERY,
                separate_forced_runs=False,
                lease=7,
                retention=864000,
                request_timeout=30,
                auth_audience=AUDIENCE,
                auth_service_account=ACCOUNT,
                log_level="DEBUG",
                gcp_project="staging-project",
            )
        )

    def test_of_the_request_timeout_is_the_attempt_deadline(self) -> None:
        """R32."""
        assert read(ATTEMPT_DEADLINE_SECONDS="900").request_timeout == 900

    def test_are_not_touched_by_variables_of_others(self) -> None:
        """R41: a shell is full of them."""
        assert read(LEASE="x", lease_seconds="x", PATH="/bin", JOB="x") == read()


class TestSeconds:
    LIMITS = (
        ("ATTEMPT_DEADLINE_SECONDS", 15, 24 * 3600 + 15),
        ("REQUEST_TIMEOUT_SECONDS", 1, 24 * 3600 + 15),
        ("LEASE_SECONDS", 5, 3600),
        ("RETENTION_SECONDS", 1, 365 * 24 * 3600),
    )

    @pytest.mark.parametrize(("name", "least", "most"), LIMITS)
    def test_are_good_up_to_their_limits(self, name: str, least: int, most: int) -> None:
        """R18, R29, R32."""
        long = LOCAL | {"RETENTION_SECONDS": str(365 * 24 * 3600)}
        found = [*errors(long | {name: str(least)}), *errors(long | {name: str(most)})]
        assert not [error for error in found if "whole number" in error]

    @pytest.mark.parametrize(("name", "least", "most"), LIMITS)
    def test_beyond_their_limits_are_refused_with_the_limits(
        self, name: str, least: int, most: int
    ) -> None:
        """R18, R29, R32."""
        for value in (least - 1, most + 1):
            (error,) = errors(LOCAL | {name: str(value)})
            assert name in error
            assert f"'{value}'" in error
            assert f"from {least} to {most}" in error

    @pytest.mark.parametrize(
        "value", ["", " 60", "60 ", "60\n", "+60", "-60", "60.0", "6e1", "1m", "nan", "inf", "0x3c"]
    )
    @pytest.mark.parametrize("name", [limits[0] for limits in LIMITS])
    def test_that_are_no_whole_number_are_refused(self, name: str, value: str) -> None:
        """R18: a lease that is misread is worse than a start that fails."""
        (error,) = errors(LOCAL | {name: value})
        assert name in error
        assert "whole number of seconds" in error

    def test_of_retention_have_to_outlast_the_retries(self) -> None:
        """R29: a record that is gone while its run is still retried lets it run again."""
        times = {"ATTEMPT_DEADLINE_SECONDS": "100", "REQUEST_TIMEOUT_SECONDS": "90"}
        window = retry_window(attempt_deadline=100, request_timeout=90, lease=70)
        environ = LOCAL | times | {"LEASE_SECONDS": "70"}
        assert not errors(environ | {"RETENTION_SECONDS": f"{window:.0f}"})
        (error,) = errors(environ | {"RETENTION_SECONDS": f"{window - 1:.0f}"})
        assert error.startswith(f"RETENTION_SECONDS is {window - 1:.0f}")
        assert f"{window:.0f} s" in error

    def test_in_digits_of_another_script_are_refused(self) -> None:
        """R18: the message shows them in ASCII."""
        (error,) = errors(LOCAL | {"LEASE_SECONDS": "\u0666\u0660"})
        assert error.isascii()


class TestChoices:
    @pytest.mark.parametrize(
        ("name", "good"),
        [
            ("JOB_SCOPE", tuple(JobScope)),
            ("FORCED_RUNS", ("separate", "shared")),
            ("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")),
        ],
    )
    @pytest.mark.parametrize("bad", ["", "x", "HEADER", "Separate", "info", "none ", "20"])
    def test_other_than_the_known_ones_are_refused_with_those(
        self, name: str, good: tuple[str, ...], bad: str
    ) -> None:
        """R05, R06."""
        (error,) = errors(LOCAL | {name: bad})
        assert error.startswith(f"{name} is '{bad}'")
        assert all(choice in error for choice in good)
        assert not any(errors(LOCAL | {name: choice}) for choice in good)


class TestService:
    @pytest.mark.parametrize("name", ["a", "a1", "nightly-report", "a" * 49])
    def test_may_have_any_name_that_a_platform_takes(self, name: str) -> None:
        """R08."""
        assert read(SERVICE=name).service == name

    @pytest.mark.parametrize("name", ["", "1a", "-a", "a-", "A", "a_b", "a.b", "a\n", "a" * 50])
    def test_with_another_name_is_refused(self, name: str) -> None:
        """R08."""
        (error,) = errors(LOCAL | {"SERVICE": name})
        assert error.startswith("SERVICE: ")
        assert "lower-case letters" in error


class TestRunStoreUrl:
    @pytest.mark.parametrize("url", ["sqlite:///runs.db", "sqlite:////tmp/runs.db"])
    def test_may_be_a_file(self, url: str) -> None:
        """R41."""
        assert read(RUN_STORE_URL=url).run_store_url == url

    def test_is_checked_without_making_anything(self, tmp_path: Path) -> None:
        """R41: a check of the settings leaves nothing behind."""
        read(RUN_STORE_URL=f"sqlite:///{tmp_path}/folder/runs.db")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "url",
        [
            "sqlite:",
            "sqlite://",
            "sqlite:///",
            "sqlite://runs.db",
            "sqlite://host/runs.db",
            "sqlite:///:memory:",
            "sqlite:///runs.db?mode=ro",
            "sqlite:///runs.db#1",
        ],
    )
    def test_of_another_form_is_refused_with_the_form(self, url: str) -> None:
        """R41."""
        (error,) = errors(LOCAL | {"RUN_STORE_URL": url})
        assert "RUN_STORE_URL" in error
        assert "expected sqlite:///PATH" in error

    @pytest.mark.parametrize("scheme", REMOTE_STORES)
    @pytest.mark.parametrize("rest", ["", "//", "///", "//place/name?no-such-option=1", "//["])
    def test_of_the_projects_own_store_is_checked_too(self, scheme: str, rest: str) -> None:
        """R10: a start with a misspelt place fails, and not the first request."""
        (error,) = errors(LOCAL | {"RUN_STORE_URL": f"{scheme}:{rest}"})
        assert error.startswith("RUN_STORE_URL")

    @pytest.mark.parametrize("url", ["", "runs.db", "/tmp/runs.db", "other://host/path", "//x"])
    def test_without_a_known_scheme_is_refused_with_those_and_the_question(self, url: str) -> None:
        """R41."""
        (error,) = errors(LOCAL | {"RUN_STORE_URL": url})
        assert "RUN_STORE_URL" in error
        if url:
            assert all(f"{scheme}://" in error for scheme in supported_schemes())
            assert "`store`" in error

    @pytest.mark.parametrize("scheme", [*supported_schemes(), "other"])
    @pytest.mark.parametrize(
        "rest",
        [
            "://:hidden@host/1",
            "://user:hidden@host/runs.db",  # pragma: allowlist secret
            "://:pa[hidden]ss@h",
            "://:hidden\uff0fx@h",
            ":hidden@10.0.0.3:6379",
            ":/:hidden@h",
            "://h?auth=hidden",
            "://h?pass=hidden",
            "://user:1?hidden@h",
            "://user:hidden",
            "://user:1?x&hidden&y@h",
        ],
    )
    def test_that_is_refused_is_shown_without_its_password(self, scheme: str, rest: str) -> None:
        """R39: the message goes to the log."""
        found = errors(LOCAL | {"RUN_STORE_URL": scheme + rest})
        assert all("hidden" not in error for error in found)
        assert all(error.startswith("RUN_STORE_URL: ") for error in found)

    def test_may_have_a_password_in_place_of_the_scheme(self) -> None:
        """R39: the account was copied without what comes before it."""
        for url in ("default:hidden@host", "hidden:x@host", "hidden"):
            (error,) = errors(LOCAL | {"RUN_STORE_URL": url})
            assert "hidden" not in error


class TestBytesThatAreNoText:
    NAMES = (
        *("SERVICE", "RUN_STORE_URL", "JOB_SCOPE", "LEASE_SECONDS", "AUTH", "LOG_LEVEL"),
        *("AUTH_AUDIENCE", "GOOGLE_CLOUD_PROJECT"),
    )

    @pytest.mark.parametrize("name", NAMES)
    def test_are_refused_by_the_name_of_their_variable(self, name: str) -> None:
        """R41: Python hands bytes on that are no UTF-8, and the first use of them fails."""
        assert errors(LOCAL | {name: "sqlite:///\udcff"}) == [f"{name} is not UTF-8"]


class TestBadEnvironment:
    BAD = {  # noqa: RUF012 never written
        "SERVICE": "Not A Name",
        "RUN_STORE_URL": "nowhere",
        "JOB_SCOPE": "body",
        "FORCED_RUNS": "never",
        "ATTEMPT_DEADLINE_SECONDS": "1",
        "REQUEST_TIMEOUT_SECONDS": "0",
        "LEASE_SECONDS": "0",
        "RETENTION_SECONDS": "0",
        "LOG_LEVEL": "LOUD",
        "AUTH": "off",
        "K_SERVICE": "nightly",
    }

    def test_names_every_error_at_once(self) -> None:
        """R33: nobody restarts nine times to find nine mistakes."""
        found = errors(self.BAD)
        wrong = self.BAD.keys() - {"K_SERVICE"}
        assert len(found) == len(wrong)
        assert all(sum(error.startswith(name) for error in found) == 1 for name in wrong)

    def test_shows_a_bad_value_as_one_short_printable_line(self) -> None:
        """R39: whatever is in it."""
        for name in self.BAD:
            for error in errors(self.BAD | {name: "\u00e4\x1b[31m\n- AUTH is fine\n" + "x" * 500}):
                assert error.isascii()
                assert error.isprintable()
                assert len(error) < 400

    def test_stops_the_start_with_one_log_line(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """R39: with the exit status that keeps a server from starting such a worker again."""
        for name, value in self.BAD.items():
            monkeypatch.setenv(name, value)
        with own_root_logger(), pytest.raises(SystemExit) as stopped:
            create_service()
        line = json.loads(capsys.readouterr().out)
        assert stopped.value.code == WORKER_BOOT_ERROR
        assert line["severity"] == "CRITICAL"
        assert all(name in line["message"] for name in self.BAD)
