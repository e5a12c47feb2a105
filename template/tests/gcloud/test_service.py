"""What the deployment tells the service is what the service reads."""

from typing import Any

import pytest

from app import defaults
from app.environment import Reader
from app.kinds import open_kind
from app.records.settings import RecordsSettings
from app.settings import Settings
from tests.gcloud.conftest import Deploy
from tests.support.gcloud import parts

every_store = pytest.mark.parametrize("store", parts("store"))
every_auth = pytest.mark.parametrize("auth", parts("auth"))


class Noted(dict[str, str]):
    """An environment that notes which variables are looked up."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.read = set[str]()

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, and note its name."""
        self.read.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a value, and note its name."""
        self.read.add(str(name))
        return super().__contains__(name)


@every_store
@every_auth
class TestEnvironment:
    def test_the_service_starts_with_it(self, deployed: Deploy, store: str, auth: str) -> None:
        """R33, R41: a platform's own variable is there too, which rules some settings out."""
        environment = deployed(store=store, auth=auth).environment
        settings = Settings.from_environ(environment)
        assert settings.auth == auth
        assert settings.service == "nightly-report"

    def test_every_variable_is_read(self, deployed: Deploy, store: str, auth: str) -> None:
        environment = Noted(deployed(store=store, auth=auth).environment)
        Settings.from_environ(environment)
        RecordsSettings.from_environ(environment)
        open_kind(defaults.KIND, Reader(environment))
        # What Python and the start of the service read is none of the settings'.
        assert environment.keys() - {"PYTHONUNBUFFERED", "SECRETS"} <= environment.read


class TestAgreement:
    def test_deployment_and_code_have_the_same_answers(self, deployed: Deploy) -> None:
        """R16, R29, R32."""
        settings = Settings.from_environ(deployed().environment)
        records = RecordsSettings.from_environ(deployed().environment)
        assert settings.lease == defaults.LEASE_SECONDS
        assert settings.retention == defaults.RETENTION_SECONDS
        assert settings.request_timeout == defaults.ATTEMPT_DEADLINE_SECONDS
        assert settings.job_scope == defaults.JOB_SCOPE
        assert settings.gcp_project == defaults.GCP_PROJECT
        assert (records.schedule, records.time_zone) == (defaults.SCHEDULE, defaults.TIME_ZONE)

    def test_it_runs_as_an_account_of_its_own(self, deployed: Deploy) -> None:
        """R34."""
        assert deployed().service.account.startswith("nightly-report-runner@")
