"""Terraform's files are in order: formatted, accepted by the provider, and without loose ends."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.deployment.terraform import provider
from tests.deployment.terraform.configuration import Configuration, RefusedError
from tests.deployment.terraform.planned import Plan
from tests.rendering import render

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def configuration(terraform_project: Path) -> Configuration:
    return Configuration.read(terraform_project / "infra")


@pytest.fixture
def project(infrastructure: Path, tmp_path: Path) -> Path:
    return render(infrastructure, tmp_path / "project", {"deploy": "terraform"})


class TestEveryVariant:
    def test_it_is_formatted(self, terraform: str, terraform_project: Path) -> None:
        command = [terraform, "fmt", "-check", "-diff", str(terraform_project / "infra")]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr

    def test_the_provider_has_every_argument_and_block(self, configuration: Configuration) -> None:
        assert provider.problems(configuration) == []

    def test_what_is_referred_to_is_there_and_what_is_there_is_used(
        self, configuration: Configuration
    ) -> None:
        addresses = {resource.address for resource in configuration.resources}
        named = {f"var.{name}" for name in configuration.variables}
        named |= {f"local.{name}" for name in configuration.locals}
        references = configuration.references()
        assert references <= named | addresses
        assert named <= references

    def test_what_is_read_of_a_resource_is_an_attribute_of_it(
        self, configuration: Configuration
    ) -> None:
        text = "\n".join(path.read_text() for path in configuration.folder.glob("*.tf"))
        read = re.findall(r"((?:data\.)?google_\w+)\.\w+(?:\[[^]]*\])?\.([a-z_]+)", text)
        assert read
        for kind, attribute in read:
            assert attribute in provider.attributes(kind), (kind, attribute)

    def test_what_a_person_gives_and_gets_is_explained(self, configuration: Configuration) -> None:
        for block in (*configuration.variables.values(), *configuration.outputs.values()):
            assert block["description"].endswith('."')
        assert all("type" in variable for variable in configuration.variables.values())


class TestChecks:
    """The checks above can fail."""

    def test_of_arguments(self, project: Path) -> None:
        faults = {
            "job.tf": ("attempt_deadline ", "deadline ", "has no argument deadline"),
            "images.tf": ('format        = "DOCKER"', "", "lacks format"),
            "accounts.tf": ("google_service_account", "google_pet", "google_pet is not in"),
        }
        for name, (good, bad, _) in faults.items():
            path = project / "infra" / name
            text = path.read_text()
            assert good in text
            path.write_text(text.replace(good, bad))
        job = project / "infra" / "job.tf"
        job.write_text(
            job.read_text().replace("  retry_config {", "  retry_config {}\n  retry_config {")
        )
        found = "\n".join(provider.problems(Configuration.read(project / "infra")))
        for _, _, problem in faults.values():
            assert problem in found
        assert "google_cloud_scheduler_job.job takes one retry_config, not 2" in found

    def test_of_names(self, terraform: str, project: Path, tmp_path: Path) -> None:
        path = project / "infra" / "job.tf"
        path.write_text(path.read_text().replace("local.job_path", "local.path"))
        with pytest.raises(RefusedError, match="undeclared local value"):
            Plan.of(project, tmp_path / "work")


class TestVariables:
    @pytest.mark.parametrize(
        ("name", "value", "remedy"),
        [
            ("project", "123456", "not its name or number"),
            ("region", "us-central1-a", "not of a zone"),
            ("service", "Nightly", "lower-case letters"),
            ("description", "", "1 to 500 characters"),
            ("schedule", "every 5 minutes", "five unix-cron fields"),
            ("time_zone", "+02:00", "not an offset"),
            ("attempt_deadline", "86416", "15 to 1800"),
            ("lease", "4", "5 to 3600"),
            ("retention", "0", "1 to 8760"),
            (
                "retries",
                '{"retry_count": 0, "min_backoff": 5, "max_backoff": 9, "max_doublings": 5,'
                ' "max_retry_duration": 0}',
                "a run whose attempt crashes is lost",
            ),
            ("image", "host/image:latest", "by its digest"),
            ("concurrency", "0", "1 to 1000"),
            ("max_instances", "0", "no run happens"),
            ("cpu", "0.5", "leases would not be renewed"),
            ("memory", "512", "512Mi or 2Gi"),
        ],
    )
    def test_a_bad_value_is_refused_with_the_remedy(
        self,
        terraform: str,
        project: Path,
        tmp_path: Path,
        name: str,
        value: str,
        remedy: str,
    ) -> None:
        with pytest.raises(RefusedError) as refused:
            Plan.of(project, tmp_path / "work", **{name: value})
        assert remedy in str(refused.value)

    @pytest.mark.parametrize(
        ("kind", "name", "value", "remedy"),
        [
            ("cloud-run-job", "target", "train", "projects/PROJECT/locations/LOCATION/jobs/JOB"),
            ("http", "target", "http://endpoint.example", "https://HOST/PATH"),
            ("cloud-build", "target_account", "builds", "e-mail address of a service account"),
            ("workflows", "step_url", "step.example", "https:// URL"),
            ("step", "callers", "[]", "nobody could"),
        ],
    )
    def test_so_is_one_of_a_proxy_or_a_step(
        self,
        terraform: str,
        infrastructure: Path,
        tmp_path: Path,
        kind: str,
        name: str,
        value: str,
        remedy: str,
    ) -> None:
        """R38."""
        answers = {"kind": "step"} if kind == "step" else {"kind": "proxy", "target": kind}
        project = render(infrastructure, tmp_path / "project", {"deploy": "terraform"} | answers)
        with pytest.raises(RefusedError) as refused:
            Plan.of(project, tmp_path / "work", **{name: value})
        assert remedy in str(refused.value)
