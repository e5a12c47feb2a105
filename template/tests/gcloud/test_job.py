"""What the Cloud Scheduler job sends is what the service accepts."""

import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from app.dedup.delivery import JobScope, is_run_path, read_delivery
from app.settings import Settings
from tests.gcloud.conftest import Deploy
from tests.support.gcloud import ROOT, parts

every_auth = pytest.mark.parametrize("auth", parts("auth"))


class TestScope:
    @pytest.mark.parametrize("scope", list(JobScope))
    def test_the_service_reads_project_and_region(self, deployed: Deploy, scope: JobScope) -> None:
        """R05."""
        done = deployed({"JOB_SCOPE": scope.value})
        sent = done.job.get("--headers", "")
        headers = dict(pair.split("=", 1) for pair in sent.split(",") if pair) | {
            "X-CloudScheduler-JobName": "nightly-report",
            "X-CloudScheduler-ScheduleTime": "2026-10-16T12:00:00Z",
        }
        place = urlsplit(done.job_uri)
        query = {name: tuple(values) for name, values in parse_qs(place.query).items()}
        assert is_run_path(place.path, scope)
        delivery = read_delivery(
            {name.lower(): (value,) for name, value in headers.items()}, place.path, query, scope
        )
        settings = Settings.from_environ(done.environment)
        assert settings.job_scope is scope
        job = settings.gcp_project, done.job["--location"]
        expected = ("", "") if scope is JobScope.NONE else job
        assert (delivery.project, delivery.location) == expected


class TestCaller:
    @every_auth
    def test_its_token_is_the_one_that_the_service_expects(
        self, deployed: Deploy, auth: str
    ) -> None:
        """R33: and it sends none where the platform knows the caller without."""
        done = deployed(auth=auth)
        settings = Settings.from_environ(done.environment)
        sent = done.job.get("--oidc-token-audience", "")
        account = done.job.get("--oidc-service-account-email", "")
        assert (sent, account) == (settings.auth_audience, settings.auth_service_account)
        assert done.root == sent or not sent
        assert bool(sent) is (auth in ("iam", "verify"))


class TestService:
    def test_an_attempt_ends_before_its_deadline(self, deployed: Deploy) -> None:
        """R32."""
        done = deployed()
        work_limit = Settings.from_environ(done.environment).request_timeout
        assert work_limit <= float(done.job["--attempt-deadline"].removesuffix("s"))

    @every_auth
    def test_it_runs_as_another_account(self, deployed: Deploy, auth: str) -> None:
        """R34."""
        done = deployed(auth=auth)
        assert done.service.account != done.job.get("--oidc-service-account-email")


class TestRetries:
    def test_they_are_those_of_the_retry_budget(self, deployed: Deploy) -> None:
        """R31."""
        job = deployed({"PYTHON": sys.executable, "LEASE_SECONDS": "120"}).job
        printed = subprocess.run(
            [sys.executable, "-m", "dev.budget", "--flags"],
            cwd=ROOT,
            env={"LEASE_SECONDS": "120"},
            check=True,
            capture_output=True,
            text=True,
        )
        flags = dict(flag.split("=") for flag in printed.stdout.split())
        assert flags
        assert flags.items() <= job.items()


class TestNames:
    def test_a_long_name_leaves_the_accounts_apart(self, deployed: Deploy) -> None:
        """An account's id has at most 30 characters, a service's name 49."""
        first, second = (
            deployed({"SERVICE": f"{'monthly-invoice-run-of-the-company-no-' * 2}"[:40] + end})
            for end in "ab"
        )
        accounts = [
            address.partition("@")[0]
            for done in (first, second)
            for address in (done.service.account, done.job.get("--oidc-service-account-email"))
            if address
        ]
        assert len(set(accounts)) == len(accounts)
        assert max(map(len, accounts)) <= 30

    def test_a_domain_scoped_project_has_its_accounts_elsewhere(self, deployed: Deploy) -> None:
        done = deployed({"GOOGLE_CLOUD_PROJECT": "example.com:billing"})
        place = "billing.example.com.iam.gserviceaccount.com"
        assert done.service.account.endswith(f"@{place}")
