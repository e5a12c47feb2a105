"""What Terraform files come to, as the table of what has to be deployed says it."""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.deployment import targets
from tests.deployment.expected import (
    app_bucket,
    app_host,
    retries,
)
from tests.deployment.resources import (
    AppEngineService,
    Connector,
    Deployment,
    Firestore,
    Job,
    Memorystore,
    Retries,
    Role,
    Service,
    Spanner,
    Store,
    Workflow,
    email,
)
from tests.deployment.terraform.configuration import Configuration, evaluate
from tests.rendering import ROOT, clean_environment

PLACES: Final = {"us-central1": "us-central", "europe-west1": "europe-west"}
"""Where App Engine has another name for a region."""

IMAGE: Final = f"us-docker.pkg.dev/some/image@sha256:{'0' * 64}"

_PLACES: Final[Mapping[str, Callable[[dict[str, Any]], str]]] = {
    "google_project_iam_member": lambda _: "project",
    "google_cloud_run_v2_service_iam_member": lambda _: "service",
    "google_spanner_database_iam_member": lambda _: "database",
    "google_storage_bucket_iam_member": lambda _: "bucket",
    "google_secret_manager_secret_iam_member": lambda binding: f"secret {binding['secret_id']}",
    "google_cloud_run_v2_job_iam_member": lambda binding: f"job {binding['name']}",
    "google_cloud_tasks_queue_iam_member": lambda binding: f"queue {binding['name']}",
    "google_service_account_iam_member": (
        lambda binding: f"account {binding['service_account_id'].rpartition('/')[2]}"
    ),
}
"""What a role is on, by the type of the resource that gives it."""


@dataclass(frozen=True)
class Plan:
    """What a rendered project's Terraform files come to. Resources are in it by their types."""

    project: Path
    values: Mapping[str, Any]

    @classmethod
    def of(cls, project: Path, work: Path, /, **variables: str) -> "Plan":
        """Evaluate a project's files in a new folder; variables go before the project's own."""
        answers = yaml.safe_load((project / ".copier-answers.yml").read_text())
        configuration = Configuration.read(project / "infra")
        domain = email(answers["gcp_project"], "").removeprefix("@")
        given = _given(answers)
        values = evaluate(configuration, work, domain=domain, **given | variables)
        return cls(project, values)

    def all(self, kind: str) -> list[dict[str, Any]]:
        """All resources of a type, however many of them a block makes."""
        found = list[dict[str, Any]]()
        for address, value in self.values.items():
            if address.startswith(f"{kind}."):
                found += value if isinstance(value, list) else _each(value)
        return found

    def one(self, kind: str) -> dict[str, Any]:
        """The only resource of a type."""
        (found,) = self.all(kind)
        return found

    def deployment(self) -> Deployment:
        """Everything that there is after `make deploy`."""
        accounts = {
            account["member"]: purpose
            for purpose, account in self.values["google_service_account.accounts"].items()
        }
        return Deployment(
            project=self.values["output.project"],
            region=self.values["output.region"],
            apis=frozenset(api["service"] for api in self.all("google_project_service")),
            accounts={purpose: _account_id(member) for member, purpose in accounts.items()},
            roles=self._roles(accounts),
            store=self._store(),
            service=self._service(accounts),
            job=self._job(accounts),
            workflow=self._workflow(accounts),
        )

    def _roles(self, accounts: Mapping[str, str]) -> frozenset[Role]:
        own = self.values["output.project"]
        given = {address.partition(".")[0] for address in self.values if "_iam_" in address}
        assert given <= _PLACES.keys()
        found = set[Role]()
        for kind in given:
            for binding in self.all(kind):
                (condition,) = binding.get("condition", [{"expression": ""}])
                address = binding["member"].removeprefix("serviceAccount:")
                account, place = accounts.get(binding["member"], address), _PLACES[kind](binding)
                if binding.get("project", own) != own and place == "project":
                    place = f"project {binding['project']}"
                found.add(Role(account, binding["role"], place, condition=condition["expression"]))
        return frozenset(found)

    def _store(self) -> Store:
        if "google_firestore_database.runs" in self.values:
            return self._firestore("runs")
        if self.all("google_spanner_instance"):
            return self._spanner()
        return self._memorystore()

    def _firestore(self, name: str) -> Firestore:
        database = self.values[f"google_firestore_database.{name}"]
        every = self.all("google_firestore_field")
        fields = [field for field in every if field["database"] == database["name"]]
        (ttl_field,) = [field["field"] for field in fields if field.get("ttl_config") == [{}]]
        (collection,) = {field["collection"] for field in fields}
        assert database["type"] == "FIRESTORE_NATIVE"
        return Firestore(
            database=database["name"],
            location=database["location_id"],
            collection=collection,
            ttl_field=ttl_field,
            unindexed=frozenset(
                field["field"] for field in fields if field["index_config"] == [{}]
            ),
            delete_protection=database["delete_protection_state"] == "DELETE_PROTECTION_ENABLED",
        )

    def _spanner(self) -> Spanner:
        instance, database = (
            self.one("google_spanner_instance"),
            self.one("google_spanner_database"),
        )
        binding = self.one("google_spanner_database_iam_member")
        ddl = database["ddl"]
        assert database["instance"] == binding["instance"] == instance["name"]
        assert database["name"] == binding["database"]
        assert "ROW DELETION POLICY (OLDER_THAN(expire_at, " in ddl[0]
        assert not any("--" in statement for statement in ddl)
        return Spanner(
            instance=instance["name"],
            display_name=instance["display_name"],
            config=instance["config"],
            database=database["name"],
            tables=frozenset(
                match[1]
                for statement in ddl
                if (match := re.match(r"CREATE TABLE IF NOT EXISTS `(\w+)`", statement))
            ),
            edition=instance["edition"],
            processing_units=instance["processing_units"],
            drop_protection=database["deletion_protection"] and database["enable_drop_protection"],
        )

    def _memorystore(self) -> Memorystore:
        instance = self.one("google_redis_instance")
        return Memorystore(
            instance=instance["name"],
            network=instance["authorized_network"].rpartition("/")[2],
            tier=instance["tier"],
            size_gb=instance["memory_size_gb"],
            version=instance["redis_version"],
            auth=instance["auth_enabled"],
            tls=instance["transit_encryption_mode"],
            maxmemory_policy=instance["redis_configs"]["maxmemory-policy"],
        )

    def app(self) -> dict[str, Any]:
        """What is deployed on App Engine in the place of app.yaml."""
        changed = subprocess.run(
            [sys.executable, "-m", "dev.app_yaml"],
            cwd=self.project,
            env=clean_environment() | {"PYTHONPATH": os.fspath(ROOT / "template")},
            input=self.values["output.app_yaml"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        loaded: dict[str, Any] = yaml.safe_load(changed)
        return loaded

    def _app_engine(self, accounts: Mapping[str, str]) -> AppEngineService:
        app, project = self.app(), self.values["output.project"]
        (bucket,) = self.all("google_storage_bucket_iam_member")
        assert bucket["bucket"] == app_bucket(project)
        env, handlers = dict(app["env_variables"]), app["handlers"]
        listed = filter(None, env.pop("SECRETS", "").split(","))
        closed = [handler for handler in handlers if "login" in handler]
        region = self.values["output.region"]
        return AppEngineService(
            name=app["service"],
            url=self.values["output.url"],
            account=accounts[f"serviceAccount:{app['service_account']}"],
            place=PLACES.get(region, region),
            env=env,
            open_paths=frozenset(each["url"] for each in handlers if each not in closed),
            automatic="automatic_scaling" in app,
            secrets={
                target: name.rpartition("/")[2]
                for target, name in (item.split("=") for item in listed)
            },
            connector=self._connector(app),
            runtime=app["runtime"],
            unauthorized=all(
                (each["login"], each["auth_fail_action"]) == ("admin", "unauthorized")
                for each in closed
            ),
            https_only={each["secure"] for each in handlers} == {"always"},
        )

    def _connector(self, app: dict[str, Any]) -> Connector | None:
        found = self.all("google_vpc_access_connector")
        if not found:
            assert "vpc_access_connector" not in app
            return None
        (made,) = found
        assert app["vpc_access_connector"]["name"].endswith(f"/connectors/{made['name']}")
        return Connector(
            name=made["name"],
            network=made["network"],
            range=made["ip_cidr_range"],
            min_instances=made["min_instances"],
            max_instances=made["max_instances"],
        )

    def _service(self, accounts: Mapping[str, str]) -> Service | AppEngineService:
        if "output.app_yaml" in self.values:
            return self._app_engine(accounts)
        return self._cloud_run(accounts)

    def _cloud_run(self, accounts: Mapping[str, str]) -> Service:
        service = self.one("google_cloud_run_v2_service")
        (template,) = service["template"]
        (container,) = template["containers"]
        (resources,) = container["resources"]
        (scaling,) = template["scaling"]
        plain = [item for item in container["env"] if "value_source" not in item]
        assert len({item["name"] for item in container["env"]}) == len(container["env"])
        assert container["image"] == self.values["output.image"]
        return Service(
            name=service["name"],
            url=self.values["output.url"],
            account=accounts[f"serviceAccount:{template['service_account']}"],
            env={item["name"]: str(item["value"]) for item in plain},
            timeout=_seconds(template["timeout"]),
            platform_checks_caller=not service["invoker_iam_disabled"],
            function=self._function(),
            secrets=_secrets(template, container),
            network=_network(template),
            cpu=resources["limits"]["cpu"],
            memory=resources["limits"]["memory"],
            concurrency=template["max_instance_request_concurrency"],
            max_instances=scaling["max_instance_count"],
            cpu_throttling=resources["cpu_idle"],
            ingress=service["ingress"].removeprefix("INGRESS_TRAFFIC_").lower(),
        )

    def _function(self) -> str:
        """The function that the image is built for; `""` for a container of a Dockerfile."""
        build = yaml.safe_load((self.project / "infra" / "cloudbuild.yaml").read_text())
        (step,) = build["steps"]
        assert build["images"] == ["$_IMAGE"]
        assert "$_IMAGE" in step["args"]
        option = "--env=GOOGLE_FUNCTION_TARGET="
        (target,) = [arg for arg in step["args"] if arg.startswith(option)] or [""]
        assert target or step["name"].endswith("/docker")
        return str(target.removeprefix(option))

    def _workflow(self, accounts: Mapping[str, str]) -> Workflow | None:
        if not self.all("google_workflows_workflow"):
            return None
        workflow = self.one("google_workflows_workflow")
        assert workflow["source_contents"] == (self.project / "workflow.yaml").read_text()
        address = workflow["service_account"].rpartition("/")[2]
        return Workflow(
            name=workflow["name"],
            account=accounts[f"serviceAccount:{address}"],
            env=workflow["user_env_vars"],
            records=self._firestore("workflow"),
        )

    def _job(self, accounts: Mapping[str, str]) -> Job | None:
        if not self.all("google_cloud_scheduler_job"):
            return None
        job = self.one("google_cloud_scheduler_job")
        (target,) = job.get("http_target") or job["app_engine_http_target"]
        (retry,) = job["retry_config"]
        (token,) = target.get("oidc_token", [None])
        (routing,) = target.get("app_engine_routing", [{}])
        return Job(
            name=job["name"],
            schedule=job["schedule"],
            time_zone=job["time_zone"],
            uri=target.get("uri") or target["relative_uri"],
            audience=token["audience"] if token else "",
            account=accounts[f"serviceAccount:{token['service_account_email']}"] if token else "",
            deadline=_seconds(job["attempt_deadline"]),
            headers=target["headers"],
            retries=Retries(
                retry_count=retry["retry_count"],
                min_backoff=_seconds(retry["min_backoff_duration"]),
                max_backoff=_seconds(retry["max_backoff_duration"]),
                max_doublings=retry["max_doublings"],
                max_retry_duration=_seconds(retry["max_retry_duration"]),
            ),
            service=routing.get("service", ""),
            body=base64.b64decode(target["body"] or "").decode().strip(),
            method=target["http_method"],
        )


def _given(answers: dict[str, Any]) -> dict[str, str]:
    """What `make` and the owner set."""
    kind = targets.kind(answers)
    given = {name.lower(): value for name, value in kind.given.items()}
    if "callers" in given:
        given["callers"] = json.dumps(given["callers"].split(","))
    if kind.has_job:
        given["retries"] = json.dumps(asdict(retries(answers)))
    if answers["platform"] != "app-engine":
        return given | {"image": IMAGE}
    project, region = answers["gcp_project"], answers["region"]
    app = {
        "locationId": PLACES.get(region, region),
        "defaultHostname": app_host(project),
        "codeBucket": app_bucket(project),
    }
    return given | {"app": json.dumps(app), "deployed": "true"}


def _each(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A resource, or those that are made for each member of a map or set."""
    repeated = all(isinstance(item, dict) for item in value.values())
    return [*value.values()] if repeated else [value]


def _account_id(member: str) -> str:
    return member.removeprefix("serviceAccount:").partition("@")[0]


def _seconds(duration: str) -> int:
    return int(duration.removesuffix("s"))


def _secrets(template: dict[str, Any], container: dict[str, Any]) -> dict[str, str]:
    """The secrets that variables and files come from."""
    found = dict[str, str]()
    for item in container["env"]:
        for source in item.get("value_source", []):
            (reference,) = source["secret_key_ref"]
            found[item["name"]] = reference["secret"]
    mounts = {mount["name"]: mount["mount_path"] for mount in container.get("volume_mounts", [])}
    for volume in template.get("volumes", []):
        (secret,) = volume["secret"]
        for item in secret["items"]:
            found[f"{mounts[volume['name']]}/{item['path']}"] = secret["secret"]
    return found


def _network(template: dict[str, Any]) -> tuple[str, ...]:
    interfaces = [
        interface
        for access in template.get("vpc_access", [])
        for interface in access["network_interfaces"]
    ]
    assert len(interfaces) <= 1
    return tuple(part for each in interfaces for part in (each["network"], each["subnetwork"]))
