"""What Terraform tells the service is what the service reads."""

import re

from app import defaults
from app.records.settings import RecordsSettings
from app.settings import Settings
from tests.support.infra import INFRA, answers


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
    text = (INFRA / "environment.tf").read_text()
    (told, *_) = re.findall(r"merge\(var\.environment, \{(.*?)\}", text, re.DOTALL)
    names = set(re.findall(r"(?m)^ +([A-Z_]+) +=", told))
    assert len(names) > 5
    assert names <= environment.read


def test_terraform_and_code_have_the_same_answers() -> None:
    """R16, R29, R32."""
    given = answers()
    assert given["service"] == defaults.SERVICE
    assert given["project"] == defaults.GCP_PROJECT
    assert given["attempt_deadline"] == defaults.ATTEMPT_DEADLINE_SECONDS
    assert given["lease"] == defaults.LEASE_SECONDS
    assert given["retention"] * 3600 == defaults.RETENTION_SECONDS
