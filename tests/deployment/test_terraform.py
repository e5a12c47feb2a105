"""What Terraform deploys is what the one table says, for every choice that Terraform sees."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matrix
from tests.deployment import expected
from tests.deployment.configuration import PROJECT_NUMBER, Configuration, evaluate
from tests.deployment.expected import Deployment, Firestore, Memorystore, Role, Spanner
from tests.rendering import render

IMAGE = "us-docker.pkg.dev/some/image@sha256:" + "0" * 64
SEEN = ("platform", "store", "auth", "job_scope")

# Terraform reads the project's number and writes its policy as the person who runs it, and that
# needs an API which gcloud has from elsewhere.
ITS_OWN_APIS = {"cloudresourcemanager.googleapis.com"}

EDGES: dict[str, dict[str, Any]] = {
    "names are cut": {"service": "a" * 48 + "z", "store": "memorystore"},
    "names are cut at a word": {
        "service": "nightly-report-of-the-north-and-more",
        "store": "spanner",
    },
    "names are as short as can be": {"service": "a"},
    "the project belongs to a domain": {"gcp_project": "example.com:my-project"},
    "texts look like code": {"project_name": '${x} %{y} "it\'s" \\n é 😀', "service": "x"},
    "times are at their limits": {"attempt_deadline": 1800, "lease": 3600, "retention": 24},
}


def seen_by_terraform() -> list[matrix.Answers]:
    """One variant for each combination of the choices that Terraform's files depend on."""
    first = dict[tuple[str, ...], matrix.Answers]()
    for answers in matrix.possible():
        if answers["deploy"] == "terraform":
            first.setdefault(tuple(answers[name] for name in SEEN), answers)
    return list(first.values())


class Deployed:
    """What a project's Terraform files come to."""

    def __init__(self, project: Path, work: Path, image: str = IMAGE) -> None:
        self.answers = yaml.safe_load((project / ".copier-answers.yml").read_text())
        self.project = project
        self.expected: Deployment = expected.expected(self.answers, PROJECT_NUMBER)
        self.values = evaluate(
            Configuration.read(project / "infra"),
            work / "evaluated",
            domain=self.expected.email("runner").partition("@")[2],
            image=image,
        )

    def all(self, kind: str) -> list[dict[str, Any]]:
        """All resources of a type, however many a block makes."""
        found = []
        for address, value in self.values.items():
            if address.startswith(f"{kind}."):
                found += value if isinstance(value, list) else _each(value)
        return found

    def one(self, kind: str) -> dict[str, Any]:
        """The only resource of a type."""
        (found,) = self.all(kind)
        return found

    @property
    def container(self) -> dict[str, Any]:
        """The service's container."""
        (container,) = self.template["containers"]
        found: dict[str, Any] = container
        return found

    @property
    def template(self) -> dict[str, Any]:
        """The template of the service's revisions."""
        (template,) = self.one("google_cloud_run_v2_service")["template"]
        found: dict[str, Any] = template
        return found


def _each(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A resource, or those that are made for each member of a map or set."""
    repeated = all(isinstance(item, dict) for item in value.values())
    return [*value.values()] if repeated else [value]


@pytest.fixture(
    scope="module",
    params=[*seen_by_terraform(), *EDGES.values()],
    ids=[*map(matrix.name_of, seen_by_terraform()), *EDGES],
)
def deployed(
    request: pytest.FixtureRequest,
    terraform: str,
    template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Deployed:
    folder = tmp_path_factory.mktemp("deployed")
    answers = {"deploy": "terraform"} | request.param
    return Deployed(render(template, folder / "project", answers), folder)


def roles(deployed: Deployed) -> set[tuple[str, str, str, str]]:
    """Who has which role, on what, under which condition."""
    found = set[tuple[str, str, str, str]]()
    places: Mapping[str, Callable[[dict[str, Any]], str]] = {
        "google_project_iam_member": lambda _: "project",
        "google_cloud_run_v2_service_iam_member": lambda _: "service",
        "google_spanner_database_iam_member": lambda _: "database",
        "google_secret_manager_secret_iam_member": lambda binding: f"secret {binding['secret_id']}",
    }
    for kind, place in places.items():
        for binding in deployed.all(kind):
            (condition,) = binding.get("condition", [{"expression": ""}])
            found.add((binding["member"], binding["role"], place(binding), condition["expression"]))
    return found


class TestFoundations:
    def test_apis(self, deployed: Deployed) -> None:
        services = deployed.all("google_project_service")
        assert {each["service"] for each in services} == deployed.expected.apis | ITS_OWN_APIS
        assert not any(each["disable_on_destroy"] for each in services)

    def test_accounts(self, deployed: Deployed) -> None:
        accounts = deployed.values["google_service_account.accounts"]
        ids = {purpose: account["account_id"] for purpose, account in accounts.items()}
        assert ids == deployed.expected.accounts
        assert all(6 <= len(name) <= 30 for name in ids.values())
        assert all(len(account["display_name"]) <= 100 for account in accounts.values())

    def test_roles_are_these_and_no_others(self, deployed: Deployed) -> None:
        def shape(role: Role) -> tuple[str, str, str, str]:
            member = f"serviceAccount:{deployed.expected.email(role.account)}"
            return member, role.role, role.on, role.condition

        assert roles(deployed) == set(map(shape, deployed.expected.roles))
        every_binding = [kind for kind in deployed.values if "_iam_" in kind]
        assert all(deployed.values[binding] for binding in every_binding)

    def test_images_have_a_place_in_the_region(self, deployed: Deployed) -> None:
        repository = deployed.one("google_artifact_registry_repository")
        assert repository["format"] == "DOCKER"
        assert repository["location"] == deployed.expected.region
        host, *path = deployed.values["output.images"].split("/")
        assert host == f"{deployed.expected.region}-docker.pkg.dev"
        assert path[:-2] == deployed.expected.project.split(":")
        assert path[-2] == repository["repository_id"]


class TestStore:
    def test_it_is_as_the_table_says(self, deployed: Deployed) -> None:
        """R29: whatever has expired is deleted by the store."""
        match deployed.expected.store:
            case Firestore() as store:
                self.firestore(deployed, store)
            case Spanner() as store:
                self.spanner(deployed, store)
            case Memorystore() as store:
                self.memorystore(deployed, store)

    def firestore(self, deployed: Deployed, store: Firestore) -> None:
        database = deployed.one("google_firestore_database")
        assert database == {
            "name": store.database,
            "location_id": store.location,
            "type": "FIRESTORE_NATIVE",
            "delete_protection_state": "DELETE_PROTECTION_ENABLED",
            "deletion_policy": "DELETE",
        }
        fields = {field["field"]: field for field in deployed.all("google_firestore_field")}
        assert fields.keys() == set(expected.EXEMPT_FIELDS)
        for name, field in fields.items():
            assert field["database"] == store.database
            assert field["collection"] == expected.COLLECTION
            assert field["index_config"] == [{}]
            assert field.get("ttl_config") == ([{}] if name == expected.TTL_FIELD else None)

    def spanner(self, deployed: Deployed, store: Spanner) -> None:
        assert deployed.one("google_spanner_instance") == {
            "name": store.instance,
            "display_name": store.display_name,
            "config": store.config,
            "edition": store.edition,
            "processing_units": store.processing_units,
        }
        assert 4 <= len(store.display_name) <= 30
        database = deployed.one("google_spanner_database")
        assert (database["instance"], database["name"]) == (store.instance, store.database)
        assert database["deletion_protection"]
        assert database["enable_drop_protection"]
        runs, versions = database["ddl"]
        assert runs.startswith(f"CREATE TABLE IF NOT EXISTS `{expected.COLLECTION}` (")
        assert f"ROW DELETION POLICY (OLDER_THAN({expected.TTL_FIELD}, INTERVAL 0 DAY))" in runs
        assert f"INTERLEAVE IN PARENT `{expected.COLLECTION}` ON DELETE CASCADE" in versions
        assert "--" not in runs + versions
        (binding,) = deployed.all("google_spanner_database_iam_member")
        assert (binding["instance"], binding["database"]) == (store.instance, store.database)

    def memorystore(self, deployed: Deployed, store: Memorystore) -> None:
        instance = deployed.one("google_redis_instance")
        network, _ = deployed.expected.service.network
        project = deployed.expected.project
        assert instance["name"] == store.instance
        assert instance["region"] == deployed.expected.region
        assert instance["tier"] == store.tier
        assert instance["memory_size_gb"] == store.size_gb
        assert instance["redis_version"] == store.version
        assert instance["auth_enabled"] == store.auth
        assert instance["transit_encryption_mode"] == store.tls
        assert instance["redis_configs"] == {"maxmemory-policy": store.maxmemory_policy}
        assert instance["authorized_network"] == f"projects/{project}/global/networks/{network}"
        folder = deployed.project / "infra"
        (block,) = (
            each
            for each in Configuration.read(folder).resources
            if each.type == "google_redis_instance"
        )
        assert block.body["lifecycle"] == [{"prevent_destroy": True}]


class TestService:
    def test_it_is_as_the_table_says(self, deployed: Deployed) -> None:
        service = deployed.one("google_cloud_run_v2_service")
        wanted = deployed.expected.service
        assert service["name"] == wanted.name
        assert service["location"] == deployed.expected.region
        assert service["ingress"] == f"INGRESS_TRAFFIC_{wanted.ingress.upper()}"
        assert service["deletion_protection"]
        template = deployed.template
        assert template["service_account"] == deployed.expected.email(wanted.account)
        assert template["timeout"] == f"{wanted.timeout}s"
        assert template["max_instance_request_concurrency"] == wanted.concurrency
        assert template["scaling"] == [{"max_instance_count": wanted.max_instances}]
        (resources,) = deployed.container["resources"]
        assert resources["cpu_idle"] == wanted.cpu_throttling
        assert deployed.container["image"] == IMAGE
        assert deployed.values["output.url"] == wanted.url

    def test_who_checks_the_caller(self, deployed: Deployed) -> None:
        """R33: the platform, unless the application verifies the token itself."""
        off = deployed.one("google_cloud_run_v2_service")["invoker_iam_disabled"]
        assert off is not deployed.expected.service.platform_checks_caller

    def test_environment(self, deployed: Deployed) -> None:
        plain = {item["name"]: item["value"] for item in self.environment(deployed, secret=False)}
        assert {name: str(value) for name, value in plain.items()} == deployed.expected.service.env

    def test_secrets(self, deployed: Deployed) -> None:
        secrets = dict[str, str]()
        for item in self.environment(deployed, secret=True):
            ((reference,),) = [each["secret_key_ref"] for each in item["value_source"]]
            secrets[item["name"]] = reference["secret"]
        mounts = {
            mount["name"]: mount["mount_path"]
            for mount in deployed.container.get("volume_mounts", [])
        }
        for volume in deployed.template.get("volumes", []):
            (secret,) = volume["secret"]
            (item,) = secret["items"]
            secrets[f"{mounts[volume['name']]}/{item['path']}"] = secret["secret"]
        assert secrets == deployed.expected.service.secrets
        made = {secret["secret_id"] for secret in deployed.all("google_secret_manager_secret")}
        assert made == set(secrets.values())

    def test_what_is_secret_is_how_to_reach_the_instance(self, deployed: Deployed) -> None:
        if not deployed.expected.service.secrets:
            assert not deployed.all("google_secret_manager_secret_version")
            return
        instance = deployed.one("google_redis_instance")
        url = expected.run_store_secret(instance["host"], instance["port"], instance["auth_string"])
        data = {
            version["secret"].rpartition("/")[2]: version["secret_data"]
            for version in deployed.all("google_secret_manager_secret_version")
        }
        names = deployed.expected.service.secrets
        authorities = "\n".join(each["cert"] for each in instance["server_ca_certs"])
        assert data == {names["RUN_STORE_URL"]: url, names[expected.CA_FILE]: authorities}

    def test_network(self, deployed: Deployed) -> None:
        found = [
            (interface["network"], interface["subnetwork"])
            for access in deployed.template.get("vpc_access", [])
            for interface in access["network_interfaces"]
        ]
        assert found == [network for network in [deployed.expected.service.network] if network]

    def test_the_image_is_built_as_the_platform_does(self, deployed: Deployed) -> None:
        build = yaml.safe_load((deployed.project / "infra" / "cloudbuild.yaml").read_text())
        (step,) = build["steps"]
        assert build["images"] == ["$_IMAGE"]
        assert "$_IMAGE" in step["args"]
        if function := deployed.expected.service.function:
            assert f"--env=GOOGLE_FUNCTION_TARGET={function}" in step["args"]
            digits = expected.BASE_IMAGE.removeprefix("python")
            assert f"--env=GOOGLE_PYTHON_VERSION={digits[0]}.{digits[1:]}.x" in step["args"]
        else:
            assert step["name"].endswith("/docker")

    @staticmethod
    def environment(deployed: Deployed, *, secret: bool) -> list[dict[str, Any]]:
        variables = deployed.container["env"]
        assert len({item["name"] for item in variables}) == len(variables)
        return [item for item in variables if ("value_source" in item) is secret]


class TestJob:
    def test_it_is_as_the_table_says(self, deployed: Deployed) -> None:
        """R05, R30, R32, R33."""
        wanted = deployed.expected.job
        job = deployed.one("google_cloud_scheduler_job")
        (target,) = job["http_target"]
        (token,) = target["oidc_token"]
        assert job["name"] == wanted.name
        assert job["region"] == deployed.expected.region
        assert job["description"] == deployed.answers["project_name"]
        assert (job["schedule"], job["time_zone"]) == (wanted.schedule, wanted.time_zone)
        assert job["attempt_deadline"] == f"{wanted.deadline}s"
        assert (target["http_method"], target["uri"]) == (wanted.method, wanted.uri)
        assert target["headers"] == wanted.headers
        assert token == {
            "service_account_email": deployed.expected.email(wanted.account),
            "audience": wanted.audience,
        }

    def test_retries(self, deployed: Deployed) -> None:
        """R31."""
        (retries,) = deployed.one("google_cloud_scheduler_job")["retry_config"]
        wanted = deployed.expected.job.retries
        assert retries == {
            "retry_count": wanted.count,
            "min_backoff_duration": f"{wanted.min_backoff}s",
            "max_backoff_duration": f"{wanted.max_backoff}s",
            "max_doublings": wanted.max_doublings,
        }


class TestBeforeTheFirstImage:
    def test_all_is_set_up_but_the_service_and_what_calls_it(
        self, deployed: Deployed, tmp_path: Path
    ) -> None:
        before = Deployed(deployed.project, tmp_path, image="").values
        absent = {address for address, value in before.items() if value == [] or value == ""}
        assert absent - {"google_cloud_run_v2_service_iam_member.caller"} == {
            "google_cloud_run_v2_service.service",
            "google_cloud_scheduler_job.job",
            "output.image",
        }
        same = before.keys() - absent
        assert json.dumps({key: before[key] for key in same}, sort_keys=True) == json.dumps(
            {key: deployed.values[key] for key in same}, sort_keys=True
        )
