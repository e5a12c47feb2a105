"""What a recorder was asked to make, as the table of what has to be deployed says it."""

import base64
import re
from typing import Any, Final

from tests.deployment.recorder import Recorder
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
)
from tests.rendering import ROOT


def deployed(recorder: Recorder, project: str, region: str) -> Deployment:
    """Everything that there is after a deployment."""
    accounts = _accounts(recorder)
    return Deployment(
        project=project,
        region=region,
        apis=frozenset(
            api
            for request in recorder.sent("serviceusage", "POST", ".*:batchEnable")
            for api in request.body["serviceIds"]
        ),
        accounts={purpose: email.partition("@")[0] for email, purpose in accounts.items()},
        roles=_roles(recorder, accounts, project),
        store=_store(recorder),
        service=_service(recorder, accounts),
        job=_job(recorder, accounts),
        workflow=_workflow(recorder, accounts),
    )


def _found(recorder: Recorder, pattern: str) -> dict[str, Any]:
    """What there is, by the last part of its name."""
    return {
        key.rpartition("/")[2]: made
        for key, made in recorder.resources.items()
        if re.fullmatch(pattern, key)
    }


def _only(recorder: Recorder, pattern: str) -> Any:
    (made,) = _found(recorder, pattern).values()
    return made


def _accounts(recorder: Recorder) -> dict[str, str]:
    """What each account is for, by its address."""
    found = _found(recorder, r"iam/.*/serviceAccounts/[^/:]+")
    return {email: email.partition("@")[0].rpartition("-")[2] for email in found}


def _purpose(member: str, accounts: dict[str, str]) -> str:
    """What a member of a policy is for; an account of another project is for itself."""
    address = member.removeprefix("serviceAccount:")
    return accounts.get(address, address)


def _roles(recorder: Recorder, accounts: dict[str, str], project: str) -> frozenset[Role]:
    return frozenset(
        Role(
            _purpose(member, accounts),
            binding["role"],
            _place(key, project),
            condition=binding.get("condition", {}).get("expression", ""),
        )
        for key, policy in recorder.resources.items()
        if key.endswith(":policy")
        for binding in policy.get("bindings", [])
        for member in binding["members"]
    )


_NAMED: Final = {
    "secrets": "secret",
    "jobs": "job",
    "queues": "queue",
    "serviceAccounts": "account",
}
"""What the project has several of, or others have."""


def _place(key: str, project: str) -> str:
    kind, name = key.removesuffix(":policy").split("/")[-2:]
    if kind == "b":
        return "bucket"
    if kind == "projects" and name != project:
        return f"project {name}"
    return f"{_NAMED[kind]} {name}" if kind in _NAMED else kind.removesuffix("s")


def _store(recorder: Recorder) -> Store:
    if database := _found(recorder, r"firestore/projects/[^/]+/databases/[^/]+-runs"):
        return _firestore(recorder, database)
    if instance := _found(recorder, r"spanner/projects/[^/]+/instances/[^/]+"):
        return _spanner(recorder, instance)
    return _memorystore(recorder)


def _firestore(recorder: Recorder, found: dict[str, Any]) -> Firestore:
    ((name, database),) = found.items()
    fields = _found(recorder, rf"firestore/.*/databases/{name}/.*/fields/[^/]+")
    (ttl_field,) = [field for field, made in fields.items() if made.get("ttlConfig") == {}]
    (collection,) = {made["name"].split("/")[-3] for made in fields.values()}
    assert database["type"] == "FIRESTORE_NATIVE"
    return Firestore(
        database=name,
        location=database["locationId"],
        collection=collection,
        ttl_field=ttl_field,
        unindexed=frozenset(field for field, made in fields.items() if made["indexConfig"] == {}),
        delete_protection=database["deleteProtectionState"] == "DELETE_PROTECTION_ENABLED",
    )


def _spanner(recorder: Recorder, found: dict[str, Any]) -> Spanner:
    ((name, instance),) = found.items()
    databases = _found(recorder, rf"spanner/projects/[^/]+/instances/{name}/databases/[^/:]+")
    ((database, made),) = databases.items()
    ddl = "\n".join(made["extraStatements"])
    assert "ROW DELETION POLICY (OLDER_THAN(expire_at, " in ddl
    return Spanner(
        instance=name,
        display_name=instance["displayName"],
        config=instance["config"].rpartition("/")[2],
        database=database,
        tables=frozenset(re.findall(r"CREATE TABLE IF NOT EXISTS `(\w+)`", ddl)),
        edition=instance["edition"],
        processing_units=instance["processingUnits"],
        drop_protection=made["enableDropProtection"],
    )


def _memorystore(recorder: Recorder) -> Memorystore:
    ((name, made),) = _found(recorder, r"redis/.*/instances/[^/]+").items()
    return Memorystore(
        instance=name,
        network=made["authorizedNetwork"].rpartition("/")[2],
        tier=made["tier"],
        size_gb=made["memorySizeGb"],
        version=made["redisVersion"],
        auth=made["authEnabled"],
        tls=made["transitEncryptionMode"],
        maxmemory_policy=made["redisConfigs"]["maxmemory-policy"],
    )


def _service(recorder: Recorder, accounts: dict[str, str]) -> Service | AppEngineService:
    if _found(recorder, r"appengine/apps/[^/]+"):
        return _app_engine(recorder, accounts)
    return _cloud_run(recorder, accounts)


def _app_engine(recorder: Recorder, accounts: dict[str, str]) -> AppEngineService:
    app = _only(recorder, r"appengine/apps/[^/]+")
    versions = _found(recorder, r"appengine/apps/[^/]+/services/(?!default/).*/versions/[^/]+")
    services = _found(recorder, r"appengine/apps/[^/]+/services/(?!default$)[^/]+")
    ((name, service),) = services.items()
    newest, version = max(versions.items())
    assert service["split"]["allocations"] == {newest: 1.0}
    env, handlers = dict(version["envVariables"]), version["handlers"]
    listed = filter(None, env.pop("SECRETS", "").split(","))
    secrets = {target: full.rpartition("/")[2] for target, full in (i.split("=") for i in listed)}
    # Without its first word, it would not read its secrets.
    assert version["entrypoint"]["shell"].startswith("python3 -m app.secrets ") is bool(secrets)
    closed = [handler for handler in handlers if "login" in handler]
    return AppEngineService(
        name=name,
        url=f"https://{name}-dot-{app['defaultHostname']}",
        account=accounts[version["serviceAccount"]],
        place=app["locationId"],
        env=env,
        open_paths=frozenset(each["urlRegex"] for each in handlers if each not in closed),
        automatic="automaticScaling" in version,
        secrets=secrets,
        connector=_connector(recorder, version),
        runtime=version["runtime"],
        unauthorized=all(
            (each["login"], each["authFailAction"])
            == ("LOGIN_ADMIN", "AUTH_FAIL_ACTION_UNAUTHORIZED")
            for each in closed
        ),
        https_only={each["securityLevel"] for each in handlers} == {"SECURE_ALWAYS"},
    )


def _connector(recorder: Recorder, version: Any) -> Connector | None:
    found = _found(recorder, r"vpcaccess/.*/connectors/[^/]+")
    used = version.get("vpcAccessConnector", {}).get("name")
    if used is None:
        assert not found
        return None
    ((name, made),) = found.items()
    assert used == made["name"]
    return Connector(
        name=name,
        network=made["network"],
        range=made["ipCidrRange"],
        min_instances=made["minInstances"],
        max_instances=made["maxInstances"],
    )


def _cloud_run(recorder: Recorder, accounts: dict[str, str]) -> Service:
    service = _only(recorder, r"run/namespaces/[^/]+/services/[^/]+")
    annotations = service["metadata"]["annotations"]
    template = service["spec"]["template"]
    revision = template["metadata"]["annotations"]
    (container,) = template["spec"]["containers"]
    build = recorder.sent("us-central1-run", "POST", ".*/builds:submit")[-1].body
    assert accounts[build["serviceAccount"].rpartition("/")[2]] == "builder"
    return Service(
        name=service["metadata"]["name"],
        url=re.findall(r'https://[^"]+', annotations["run.googleapis.com/urls"])[0],
        account=accounts[template["spec"]["serviceAccountName"]],
        env={item["name"]: item["value"] for item in container["env"] if "value" in item},
        timeout=template["spec"]["timeoutSeconds"],
        platform_checks_caller=not _is_set(annotations, "run.googleapis.com/invoker-iam-disabled"),
        function=build.get("buildpackBuild", {}).get("functionTarget", ""),
        secrets=_secrets(container, template["spec"]),
        network=_network(revision),
        cpu=container["resources"]["limits"]["cpu"],
        memory=container["resources"]["limits"]["memory"],
        concurrency=template["spec"]["containerConcurrency"],
        max_instances=int(revision["autoscaling.knative.dev/maxScale"]),
        cpu_throttling=_is_set(revision, "run.googleapis.com/cpu-throttling"),
        ingress=annotations["run.googleapis.com/ingress"],
    )


def _is_set(annotations: Any, name: str) -> bool:
    return {"true": True, "false": False}[annotations[name].lower()]


def _secrets(container: Any, spec: Any) -> dict[str, str]:
    """Secrets by the variable or the file that gets their newest version."""
    references = {
        item["name"]: item["valueFrom"]["secretKeyRef"]
        for item in container["env"]
        if "valueFrom" in item
    }
    assert {reference["key"] for reference in references.values()} <= {"latest"}
    secrets = {name: reference["name"] for name, reference in references.items()}
    folders = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
    for volume in spec.get("volumes", []):
        (item,) = volume["secret"]["items"]
        assert item["key"] == "latest"
        secrets[f"{folders[volume['name']]}/{item['path']}"] = volume["secret"]["secretName"]
    return secrets


def _network(revision: Any) -> tuple[str, ...]:
    interfaces = revision.get("run.googleapis.com/network-interfaces")
    if interfaces is None:
        return ()
    assert revision["run.googleapis.com/vpc-access-egress"] == "private-ranges-only"
    found = dict(re.findall(r'"(network|subnetwork)": ?"([^"]+)"', interfaces))
    return found["network"], found["subnetwork"]


def _workflow(recorder: Recorder, accounts: dict[str, str]) -> Workflow | None:
    found = _found(recorder, r"workflows/.*/workflows/[^/]+")
    if not found:
        return None
    ((name, workflow),) = found.items()
    database = _found(recorder, r"firestore/projects/[^/]+/databases/[^/]+-workflow")
    assert workflow["sourceContents"] == (ROOT / "template" / "workflow.yaml").read_text()
    return Workflow(
        name=name,
        account=accounts[workflow["serviceAccount"].rpartition("/")[2]],
        env=workflow["userEnvVars"],
        records=_firestore(recorder, database),
    )


def _job(recorder: Recorder, accounts: dict[str, str]) -> Job | None:
    found = _found(recorder, r"cloudscheduler/.*/jobs/[^/]+")
    if not found:
        return None
    (job,) = found.values()
    retries = job["retryConfig"]
    target = job.get("httpTarget") or job["appEngineHttpTarget"]
    token = target.get("oidcToken")
    return Job(
        name=job["name"].rpartition("/")[2],
        schedule=job["schedule"],
        time_zone=job["timeZone"],
        uri=target.get("uri") or target["relativeUri"],
        audience=token["audience"] if token else "",
        account=accounts[token["serviceAccountEmail"]] if token else "",
        deadline=_seconds(job["attemptDeadline"]),
        headers=target.get("headers", {}),
        retries=Retries(
            retry_count=retries["retryCount"],
            min_backoff=_seconds(retries["minBackoffDuration"]),
            max_backoff=_seconds(retries["maxBackoffDuration"]),
            max_doublings=retries["maxDoublings"],
            max_retry_duration=_seconds(retries["maxRetryDuration"]),
        ),
        service=target.get("appEngineRouting", {}).get("service", ""),
        body=base64.b64decode(target.get("body", "")).decode().strip(),
        method=target["httpMethod"],
    )


def _seconds(duration: str) -> int:
    return int(duration.removesuffix("s"))
