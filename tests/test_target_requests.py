"""What a proxy sends is what Google's own descriptions of its APIs allow (R35)."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from googleapiclient import discovery_cache

from tests import matrix
from tests.rendering import clean_environment, render

pytestmark = pytest.mark.slow

# Two runs: one that goes well, and one whose answer is lost, so that it is searched or repeated.
PROGRAM = """
import json, tempfile
from dataclasses import asdict
from pathlib import Path
from dev.standin import Trouble, standing_in
from dev.targets import names, open_api
from tests.support.stores.sqlite import LossyHarness
from tests.targets.proxied import Proxied

with tempfile.TemporaryDirectory() as folder:
    harness = LossyHarness(Path(folder))
    with standing_in(open_api(names()[0], lambda: harness.fake.wall)) as stand_in:
        proxied = Proxied(harness, stand_in)
        proxied.deliver(0)
        stand_in.plan.append(Trouble.LOST_ANSWER)
        proxied.deliver(1)
        proxied.deliver_until_done(1)
        print(json.dumps([asdict(request) for request in stand_in.requests]))
"""
DESCRIPTIONS = {
    "workflows": "workflowexecutions.v1",
    "cloud-run-job": "run.v2",
    "cloud-build": "cloudbuild.v1",
    "cloud-tasks": "cloudtasks.v2",
    "bigquery": "bigquery.v2",
}
"""Target -> the description of its API."""

Json = dict[str, Any]


@cache
def description(name: str) -> Json:
    """Google's description of an API."""
    folder = Path(discovery_cache.__file__).parent / "documents"
    loaded: Json = json.loads((folder / f"{name}.json").read_text())
    return loaded


def methods(resource: Json) -> Iterator[Json]:
    """The methods of an API, all the way down."""
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from methods(inner)


def method_of(api: Json, request: Json) -> Json:
    """The one method that a request calls."""

    def takes(method: Json) -> bool:
        path = method.get("flatPath", method["path"])
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(api["servicePath"] + path))
        return method["httpMethod"] == request["method"] and bool(
            re.fullmatch(f"/{pattern}", request["path"])
        )

    found = list(filter(takes, methods(api)))
    assert len(found) == 1, (request["method"], request["path"], found)
    return found[0]


def assert_fits(api: Json, schema: Json, value: object, where: str) -> None:
    """Check a value against a schema: known fields, right types, nothing that only comes back."""
    if "$ref" in schema:
        schema = api["schemas"][schema["$ref"]]
    match schema.get("type"):
        case "object" if "properties" in schema:
            assert isinstance(value, dict), where
            for name, inner in value.items():
                assert name in schema["properties"], f"{where}.{name}"
                assert not schema["properties"][name].get("readOnly"), f"{where}.{name}"
                assert_fits(api, schema["properties"][name], inner, f"{where}.{name}")
        case "object":
            assert isinstance(value, dict), where
            for name, inner in value.items():
                assert_fits(api, schema["additionalProperties"], inner, f"{where}.{name}")
        case "array":
            assert isinstance(value, list), where
            for inner in value:
                assert_fits(api, schema["items"], inner, f"{where}[]")
        case "string":
            assert isinstance(value, str), where
        case "boolean":
            assert isinstance(value, bool), where
        case "integer" | "number":
            assert isinstance(value, int | float), where


def assert_parameter_fits(parameter: Json, value: str) -> None:
    match parameter["type"]:
        case "integer":
            assert value.isdecimal()
        case "boolean":
            assert value in ("true", "false")
    assert value in parameter.get("enum", [value])


def test_every_google_api_is_described() -> None:
    assert {*DESCRIPTIONS, "http"} == set(matrix.values_of("target"))


@pytest.mark.parametrize("target", DESCRIPTIONS)
def test_every_request_is_one_of_the_api(template: Path, tmp_path: Path, target: str) -> None:
    project = render(template, tmp_path / "project", {"kind": "proxy", "target": target})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=project,
        env=clean_environment() | {"PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=True,
    )
    api = description(DESCRIPTIONS[target])
    requests = json.loads(done.stdout.splitlines()[-1])
    assert len(requests) > 2
    for request in requests:
        method = method_of(api, request)
        allowed = method["parameters"] | api["parameters"]
        for name, value in request["query"].items():
            assert allowed[name]["location"] == "query"
            assert_parameter_fits(allowed[name], value)
        if "request" in method:
            assert request["headers"]["content-type"] == "application/json"
            assert_fits(api, method["request"], request["body"], method["request"]["$ref"])
