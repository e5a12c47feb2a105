"""How each of Google's APIs answers, as far as the generated scripts use it."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tests.deployment.expected import app_bucket, app_host

Answer = tuple[int, Any]
Resources = dict[str, Any]
"""What there is, by `HOST/PATH` without the version, policies with `:policy` at the end."""

PROJECT_NUMBER: Final = "123456789012"
REDIS_HOST: Final = "10.0.0.3"
REDIS_PORT: Final = 6378
REDIS_PASSWORD: Final = "0b6e7a9c-not-to-be-shown"  # noqa: S105 - made up
SOURCE: Final = "storage/source"
"""The source that was sent to be built, as a zip file."""

CERTIFICATES: Final = ["-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----"] * 2


@dataclass(frozen=True)
class Request:
    """A request, with its JSON; a body that is none is `{"bytes": ...}`."""

    method: str
    host: str
    path: str
    query: dict[str, str]
    body: Any


def error(code: int, status: str, message: str) -> Answer:
    """An error as Google's APIs write it."""
    return code, {"error": {"code": code, "status": status, "message": message}}


def answer(request: Request, resources: Resources) -> Answer:
    """Answer a request by what there is, and keep what it makes."""
    api = re.sub(r"^[a-z]+-[a-z]+\d-", "", request.host).removesuffix(".googleapis.com")
    name = re.sub(r"^/(upload/storage/|storage/|apis/[a-z.]+/)?v\d[a-z0-9]*/", "", request.path)
    special = _SPECIAL.get(api, _nothing)(request, name, resources)
    if special is not None:
        return special
    key = f"{api}/{name}"
    if name.endswith((":getIamPolicy", ":setIamPolicy")):
        return _policy(key, request, resources)
    match request.method:
        case "GET":
            if key in resources:
                return 200, resources[key]
            return error(404, "NOT_FOUND", f"{name} was not found.")
        case "POST":
            return _create(api, name, request, resources)
        case "PATCH":
            made = resources.setdefault(key, {"name": name})
            for path in request.query.get("updateMask", ",".join(request.body)).split(","):
                camel = re.sub(r"_([a-z])", lambda letter: letter[1].upper(), path)
                _update(made, request.body, camel.split("."))
            return 200, _done(api, name, resources)
        case _:
            return error(501, "UNIMPLEMENTED", f"{request.method} {request.path}")


_IDS: Final = {
    "artifactregistry": "repositoryId",
    "firestore": "databaseId",
    "redis": "instanceId",
    "secretmanager": "secretId",
    "vpcaccess": "connectorId",
    "workflows": "workflowId",
}
"""The query parameter that names what a POST makes."""


def _create(api: str, name: str, request: Request, resources: Resources) -> Answer:
    made = f"{name}/{request.query[_IDS[api]]}"
    if f"{api}/{made}" in resources:
        return error(409, "ALREADY_EXISTS", f"{made} exists already.")
    resources[f"{api}/{made}"] = {**request.body, "name": made, "state": "READY"}
    return 200, _done(api, made, resources)


def _update(there: Any, new: Any, path: list[str]) -> None:
    """Take one field from `new`; a field that is not in it is taken away."""
    first, *rest = path
    if rest:
        _update(there.setdefault(first, {}), new.get(first, {}), rest)
    elif first in new:
        there[first] = new[first]
    else:
        there.pop(first, None)


_IMMEDIATE: Final = ("secretmanager", "cloudscheduler")
"""APIs that answer with what was made, not with an operation."""


def _done(api: str, name: str, resources: Resources) -> Any:
    """What was made, or the operation that made it and is done."""
    made = resources[f"{api}/{name}"]
    if api in _IMMEDIATE:
        return made
    place = name.removesuffix("/ddl") if api == "spanner" else "/".join(name.split("/")[:4])
    operation = f"{place}/operations/op1"
    resources[f"{api}/{operation}"] = {"name": operation, "done": True, "response": made}
    return resources[f"{api}/{operation}"] | {"metadata": {}}


def _policy(key: str, request: Request, resources: Resources) -> Answer:
    key = f"{key.rpartition(':')[0]}:policy"
    if request.path.endswith(":setIamPolicy"):
        resources[key] = request.body["policy"]
    return 200, resources.get(key, {"version": 1, "etag": "YWJj", "bindings": []})


def _nothing(request: Request, name: str, resources: Resources) -> Answer | None:
    return None


def _appengine(request: Request, name: str, resources: Resources) -> Answer | None:
    _, project, *rest = [*name.split("/"), ""]
    app = f"appengine/apps/{project}"
    match request.method, rest[:-1]:
        case "POST", []:
            project = request.body["id"]
            resources[f"appengine/apps/{project}"] = request.body | {
                "name": f"apps/{project}",
                "servingStatus": "SERVING",
                "defaultHostname": app_host(project),
                "codeBucket": app_bucket(project),
            }
        case "POST", ["services", service, "versions"]:
            version = f"{app}/services/{service}/versions/{request.body['id']}"
            resources[version] = request.body | {
                "name": version.removeprefix("appengine/"),
                "createTime": "2026-10-16T12:00:00Z",
                "servingStatus": "SERVING",
            }
            resources[f"{app}/services/{service}"] = {"id": service}
        case "PATCH", ["services", service]:
            resources[f"{app}/services/{service}"] |= request.body
        case "GET", ["services" as kind] | ["services", _, "versions" as kind]:
            there = [
                made
                for key, made in resources.items()
                if re.fullmatch(rf"appengine/{name}/[^/]+", key)
            ]
            return 200, {kind: there}
        case "GET", ["operations", _]:
            pass
        case _:
            return None
    done = {"name": f"apps/{project}/operations/op1", "done": True, "response": {"name": "made"}}
    return 200, done


def _serviceusage(request: Request, name: str, resources: Resources) -> Answer | None:
    if request.method == "GET":
        return 200, {"name": name, "state": "ENABLED"}
    if name.endswith(":batchEnable"):
        return 200, {"name": "operations/enable", "done": True, "response": {}}
    return None


def _projects(request: Request, name: str, resources: Resources) -> Answer | None:
    if request.method == "GET":
        project = name.removeprefix("projects/")
        return 200, {"projectId": project, "projectNumber": PROJECT_NUMBER, "name": project}
    return None


def _accounts(request: Request, name: str, resources: Resources) -> Answer | None:
    if request.method == "POST" and name.endswith("/serviceAccounts"):
        project = name.split("/")[1]
        domain, _, plain = project.rpartition(":")
        place = f"{plain}.{domain}" if domain else plain
        email = f"{request.body['accountId']}@{place}.iam.gserviceaccount.com"
        made = {**request.body.get("serviceAccount", {}), "name": f"{name}/{email}", "email": email}
        resources[f"iam/projects/-/serviceAccounts/{email}"] = made
        return 200, made
    return None


def _firestore(request: Request, name: str, resources: Resources) -> Answer | None:
    if request.method == "GET" and name.endswith("/fields"):
        found = [
            made
            for key, made in resources.items()
            if key.startswith(f"firestore/{name}/") and "ttlConfig" in made
        ]
        return 200, {"fields": found}
    if request.method == "GET" and "/fields/" in name:
        inherited = {"name": name, "indexConfig": {"usesAncestorConfig": True}}
        return 200, {"indexConfig": {}, **resources.get(f"firestore/{name}", inherited)}
    return None


def _spanner(request: Request, name: str, resources: Resources) -> Answer | None:
    if request.method != "POST":
        return None
    if name.endswith("/instances"):
        made = f"{name}/{request.body['instanceId']}"
        content = request.body["instance"]
    elif name.endswith("/databases"):
        database = re.findall(r"[`\"](.*?)[`\"]", request.body["createStatement"])[0]
        made, content = f"{name}/{database}", {"extraStatements": request.body["extraStatements"]}
    else:
        return None
    resources[f"spanner/{made}"] = {**content, "name": made, "state": "READY"}
    return 200, _done("spanner", made, resources)


def _redis(request: Request, name: str, resources: Resources) -> Answer | None:
    if name.endswith("/authString"):
        return 200, {"authString": REDIS_PASSWORD}
    if request.method == "POST":
        request.body.update(
            host=REDIS_HOST,
            port=REDIS_PORT,
            serverCaCerts=[{"cert": certificate} for certificate in CERTIFICATES],
        )
    return None


def _secrets(request: Request, name: str, resources: Resources) -> Answer | None:
    secret = re.sub(r"(:addVersion|/versions/latest:access)$", "", name)
    versions = f"secretmanager/{secret}:versions"
    if name.endswith(":addVersion"):
        resources.setdefault(versions, []).append(request.body["payload"])
        number = len(resources[versions])
        version = {"name": f"{secret}/versions/{number}", "state": "ENABLED"}
        return 200, version | {"clientSpecifiedPayloadChecksum": True}
    if name.endswith(":access"):
        if versions in resources:
            return 200, {"name": name, "payload": resources[versions][-1]}
        return error(404, "NOT_FOUND", "there is no version")
    return None


def _scheduler(request: Request, name: str, resources: Resources) -> Answer | None:
    if request.method == "POST":
        made = request.body["name"]
        if f"cloudscheduler/{made}" in resources:
            return error(409, "ALREADY_EXISTS", f"{made} exists already.")
        resources[f"cloudscheduler/{made}"] = {**request.body, "state": "ENABLED"}
        return 200, resources[f"cloudscheduler/{made}"]
    return None


def _storage(request: Request, name: str, resources: Resources) -> Answer | None:
    """Every bucket is there; the newest upload of a zip file is kept."""
    if name.endswith("/iam"):
        key = f"storage/{name.removesuffix('/iam')}:policy"
        if request.method == "PUT":
            resources[key] = request.body
        return 200, resources.get(key, {"version": 1, "etag": "YWJj", "bindings": []})
    if request.method == "POST":
        raw = request.body["bytes"]
        size = int(re.findall(rb'"size": "(\d+)"', raw)[0])
        if request.query["name"].endswith(".zip"):
            begin = raw.index(b"PK")
            resources[SOURCE] = raw[begin : begin + size]
        stored = {"name": request.query["name"], "bucket": name.split("/")[1], "generation": "1"}
        return 200, stored | {"size": str(size)}
    if name.endswith("/o"):
        return 200, {"items": []}
    if "/o/" in name:
        return error(404, "NOT_FOUND", f"{name} was not found.")
    bucket = request.query.get("prefix") or name.rpartition("/")[2]
    found = {"id": bucket, "name": bucket, "projectNumber": PROJECT_NUMBER, "location": "US"}
    return 200, {"items": [found]} if name == "b" else found


def _build(project: str) -> Any:
    """An operation of Cloud Build that is done."""
    kind = "type.googleapis.com/google.devtools.cloudbuild.v1"
    images = [{"name": "image", "digest": "sha256:0123"}]
    build = {
        "id": "b1",
        "name": f"projects/{project}/locations/region/builds/b1",
        "projectId": project,
        "status": "SUCCESS",
        "results": {"images": images},
    }
    return {
        "name": f"operations/build/{project}/b1",
        "done": True,
        "metadata": {"@type": f"{kind}.BuildOperationMetadata", "build": build},
        "response": {"@type": f"{kind}.Build", **build},
    }


def _cloudbuild(request: Request, name: str, resources: Resources) -> Answer | None:
    return 200, _build(name.split("/")[1])


def _run(request: Request, name: str, resources: Resources) -> Answer | None:
    if name.endswith("/builds:submit"):
        submitted: dict[str, Any] = {"buildOperation": _build(name.split("/")[1])}
        if "buildpackBuild" in request.body:
            submitted["baseImageUri"] = request.body["buildpackBuild"]["baseImage"]
        return 200, submitted
    if request.method in ("POST", "PUT") and name.startswith("namespaces/"):
        return 200, _deployed(request, name, resources)
    if request.method == "GET" and name.endswith(("/revisions", "/routes", "/services")):
        return 200, {"items": [], "metadata": {}}
    return None


def _deployed(request: Request, name: str, resources: Resources) -> Any:
    made = request.body
    service = made["metadata"]["name"]
    region = request.host.removesuffix("-run.googleapis.com")
    url = f"https://{service}-{PROJECT_NUMBER}.{region}.run.app"
    made["metadata"].update(generation=1, resourceVersion="1", uid="u")
    made["metadata"]["annotations"]["run.googleapis.com/urls"] = json.dumps([url])
    revision = f"{service}-00001-abc"
    made["status"] = {
        "observedGeneration": 1,
        "url": f"https://{service}-abcdefghij-uc.a.run.app",
        "latestReadyRevisionName": revision,
        "latestCreatedRevisionName": revision,
        "conditions": [
            {"type": kind, "status": "True"}
            for kind in ("Ready", "ConfigurationsReady", "RoutesReady")
        ],
        "traffic": [{"latestRevision": True, "percent": 100, "revisionName": revision}],
    }
    place = name if request.method == "PUT" else f"{name}/{service}"
    resources[f"run/{place}"] = made
    return made


_SPECIAL: Final[dict[str, Callable[[Request, str, Resources], Answer | None]]] = {
    "appengine": _appengine,
    "cloudbuild": _cloudbuild,
    "cloudresourcemanager": _projects,
    "cloudscheduler": _scheduler,
    "firestore": _firestore,
    "iam": _accounts,
    "redis": _redis,
    "run": _run,
    "secretmanager": _secrets,
    "serviceusage": _serviceusage,
    "spanner": _spanner,
    "storage": _storage,
}
