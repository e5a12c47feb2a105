"""What Terraform deploys is what the one table says, for every choice that Terraform sees."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import yaml

from tests.deployment import expected, resources, stores
from tests.deployment.terraform.configuration import PROJECT_NUMBER, Configuration
from tests.deployment.terraform.planned import Plan
from tests.rendering import render

pytestmark = pytest.mark.slow

# Terraform reads the project's number and writes its policy as the person who runs it, and that
# needs an API which gcloud has from elsewhere.
ITS_OWN_APIS = {"cloudresourcemanager.googleapis.com"}


@pytest.fixture(scope="module")
def plan(terraform: str, terraform_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return Plan.of(terraform_project, tmp_path_factory.mktemp("evaluated") / "work")


@pytest.mark.usefixtures("terraform")
class TestEveryVariant:
    def test_it_deploys_what_the_table_says(self, terraform_project: Path, plan: Plan) -> None:
        """R05, R29, R32, R33, R34."""
        answers = yaml.safe_load((terraform_project / ".copier-answers.yml").read_text())
        table = expected.expected(answers, PROJECT_NUMBER)
        wanted = replace(table, apis=table.apis | ITS_OWN_APIS)
        assert asdict(plan.deployment()) == asdict(wanted)
        for job in plan.all("google_cloud_scheduler_job"):
            assert job["description"] == answers["project_name"]

    def test_nothing_calls_before_there_is_a_service(
        self, terraform_project: Path, plan: Plan, tmp_path: Path
    ) -> None:
        on_app_engine = "output.app_yaml" in plan.values
        none = {"deployed": "false"} if on_app_engine else {"image": ""}
        before = Plan.of(terraform_project, tmp_path / "work", **none).values
        absent = {address for address, value in before.items() if value in ([], {}, "", False)}
        service = "google_cloud_run_v2_service"
        its_own = {"output.deployed"} if on_app_engine else {f"{service}.service", "output.image"}
        job = "google_cloud_scheduler_job.job"
        assert absent - {f"{service}_iam_member.callers"} == {
            *its_own,
            *([job] if job in before else []),
        }
        assert all(before[address] == plan.values[address] for address in before.keys() - absent)

    def test_nothing_that_is_lost_can_be_destroyed_by_mistake(
        self, terraform_project: Path, plan: Plan, tmp_path: Path
    ) -> None:
        """And all of it goes once the protection is off, but what has to be named for that."""
        # Where nothing has such a protection, there is no variable for it.
        known = Configuration.read(terraform_project / "infra").variables
        off = {name: "false" for name in ("deletion_protection",) if name in known}
        bare = Plan.of(terraform_project, tmp_path / "work", **off)
        # The service of App Engine is not Terraform's.
        for kind in ("google_cloud_run_v2_service", "google_workflows_workflow"):
            assert all(each["deletion_protection"] for each in plan.all(kind))
            assert not any(each["deletion_protection"] for each in bare.all(kind))
        if (bare_workflow := bare.deployment().workflow) is not None:
            assert not bare_workflow.records.delete_protection
        match bare.deployment().store:
            case resources.Firestore(delete_protection=protected):
                assert not protected
            case resources.Spanner(drop_protection=protected):
                assert not protected
            case resources.Memorystore():
                (instance,) = (
                    resource.body
                    for resource in Configuration.read(terraform_project / "infra").resources
                    if resource.type == "google_redis_instance"
                )
                assert instance["lifecycle"] == [{"prevent_destroy": True}]

    def test_apis_stay_on_for_others(self, plan: Plan) -> None:
        assert not any(api["disable_on_destroy"] for api in plan.all("google_project_service"))

    def test_names_and_texts_fit(self, plan: Plan) -> None:
        accounts = plan.all("google_service_account")
        assert all(6 <= len(account["account_id"]) <= 30 for account in accounts)
        assert all(len(account["display_name"]) <= 100 for account in accounts)
        for instance in plan.all("google_spanner_instance"):
            assert 4 <= len(instance["display_name"]) <= 30

    def test_images_are_stored_in_the_region(self, plan: Plan) -> None:
        deployment = plan.deployment()
        if isinstance(deployment.service, resources.AppEngineService):
            assert not plan.all("google_artifact_registry_repository")
            return
        repository = plan.one("google_artifact_registry_repository")
        assert (repository["format"], repository["location"]) == ("DOCKER", deployment.region)
        host, *path = plan.values["output.images"].split("/")
        assert host == f"{deployment.region}-docker.pkg.dev"
        assert path[:-2] == deployment.project.split(":")
        assert path[-2:] == [repository["repository_id"], deployment.service.name]


class TestSpanner:
    def test_an_instance_can_be_shared(
        self, terraform: str, infrastructure: Path, tmp_path: Path
    ) -> None:
        project = render(
            infrastructure, tmp_path / "project", {"deploy": "terraform", "store": "spanner"}
        )
        plan = Plan.of(project, tmp_path / "work", spanner_instance="ours")
        assert plan.all("google_spanner_instance") == []
        assert plan.one("google_spanner_database")["instance"] == "ours"
        assert plan.one("google_spanner_database")["name"] == "nightly-report-runs"
        assert plan.one("google_spanner_database_iam_member")["instance"] == "ours"
        assert plan.values["output.run_store_url"].startswith(
            "spanner://my-project/ours/nightly-report-runs?"
        )


class TestMemorystore:
    def test_the_secrets_say_how_to_reach_the_instance(
        self, terraform: str, infrastructure: Path, tmp_path: Path
    ) -> None:
        answers = {"deploy": "terraform", "store": "memorystore"}
        plan = Plan.of(render(infrastructure, tmp_path / "project", answers), tmp_path / "work")
        instance = plan.one("google_redis_instance")
        url = stores.run_store_secret(
            instance["host"],
            instance["port"],
            instance["auth_string"],
            stores.CA_FILES["cloud-run"],
        )
        data = {
            version["secret"].rpartition("/")[2]: version["secret_data"]
            for version in plan.all("google_secret_manager_secret_version")
        }
        names = plan.deployment().service.secrets
        authorities = "\n".join(each["cert"] for each in instance["server_ca_certs"])
        assert data == {
            names["RUN_STORE_URL"]: url,
            names[stores.CA_FILES["cloud-run"]]: authorities,
        }


def test_functions_run_on_the_same_python_as_with_gcloud(
    infrastructure: Path, tmp_path: Path
) -> None:
    answers = {"deploy": "terraform", "platform": "cloud-run-functions"}
    project = render(infrastructure, tmp_path / "project", answers)
    build = yaml.safe_load((project / "infra" / "cloudbuild.yaml").read_text())
    digits = expected.BASE_IMAGE.removeprefix("python")
    version = f"--env=GOOGLE_PYTHON_VERSION={digits[0]}.{digits[1:]}.x"
    assert version in build["steps"][0]["args"]
