"""What Terraform tells the service is what the service reads."""

from app import defaults
from app.records.settings import RecordsSettings
from app.settings import Settings
from tests.support.infra import answers, blocks


class Noted(dict[str, str]):
    """An environment that notes which variables are looked up."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.read = set[str]()

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """Return a value, and note its name."""
        self.read.add(name)
        return super().get(name, default)


def test_every_variable_is_read() -> None:
    environment = Noted({"RUN_STORE_URL": "sqlite:///runs.db", "AUTH": "off"})
    Settings.from_environ(environment)
    RecordsSettings.from_environ(environment)
    assert blocks("service.tf", "locals")["environment"].keys() <= environment.read


def test_terraform_and_code_have_the_same_answers() -> None:
    """R16, R29, R32."""
    given = answers()
    assert given["service"] == defaults.SERVICE
    assert given["project"] == defaults.GCP_PROJECT
    assert given["attempt_deadline"] == defaults.ATTEMPT_DEADLINE_SECONDS
    assert given["lease"] == defaults.LEASE_SECONDS
    assert given["retention"] * 3600 == defaults.RETENTION_SECONDS


def test_a_lease_is_renewed_also_after_the_request_has_timed_out() -> None:
    """R18."""
    (template,) = blocks("service.tf", "google_cloud_run_v2_service")["service"]["template"]
    (container,) = template["containers"]
    (resources,) = container["resources"]
    assert resources["cpu_idle"] is False
    assert "ports" not in container, "the port is Cloud Run's default, which the service obeys"
