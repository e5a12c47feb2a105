"""What the tests of deployment files share."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import matrix
from tests.rendering import render

# Of the answers that are no texts or numbers, those that Terraform's own files depend on. A
# function differs from a container in how its image is built alone.
SEEN = ("platform", "store", "auth", "job_scope", "kind", "target")

EDGES: dict[str, dict[str, Any]] = {
    "a function": {"platform": "cloud-run-functions"},
    "a long name": {"service": "a" * 48 + "z"},
    "a long name of an instance": {"service": "nightly-report-of-the-north-1", "store": "spanner"},
    "a long name of a secret": {"service": "a" * 48 + "z", "store": "memorystore"},
    "a long name on App Engine": {"service": "a" * 48 + "z", "platform": "app-engine"},
    "a day on App Engine": {
        "platform": "app-engine",
        "schedule": "0 4 1 * *",
        "attempt_deadline": 86_415,
    },
    "a short name": {"service": "a"},
    "a project of a domain": {"gcp_project": "example.com:my-project"},
    "texts like code": {"project_name": '${x} %{y} "it\'s" \\n é 😀', "service": "x"},
    "a long name of a workflow": {"service": "a" * 48 + "z", "kind": "proxy"},
    "a step of a project of a domain": {"gcp_project": "example.com:my-project", "kind": "step"},
    "times at their limits": {
        "schedule": "0 */6 * * *",
        "attempt_deadline": 1800,
        "lease": 3600,
        "retention": 24,
    },
}


def _seen_by_terraform() -> list[matrix.Answers]:
    """As many variants as it takes for every two choices to meet on which the files depend."""
    every = [
        answers
        for answers in matrix.possible()
        if answers["deploy"] == "terraform" and answers["platform"] != "cloud-run-functions"
    ]
    return matrix.every_two(every, SEEN)


@pytest.fixture(scope="session")
def infrastructure(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template with no more than Terraform sees of it, which renders sooner."""
    folder = tmp_path_factory.mktemp("infrastructure")
    shutil.copy(template / "copier.yml", folder)
    shutil.copytree(template / "hooks", folder / "hooks")
    shutil.copytree(template / "template" / "infra", folder / "template" / "infra")
    tables = Path("template", "app", "dedup", "stores", "spanner.sql")
    (folder / tables).parent.mkdir(parents=True)
    for name in ("job_body.json.jinja", "workflow.yaml", "app.yaml.jinja"):
        shutil.copy(template / "template" / name, folder / "template")
    shutil.copy(template / tables, folder / tables)
    for answers in (template / "template").glob("{{*"):
        shutil.copy(answers, folder / "template")
    return folder


@pytest.fixture(
    scope="session",
    params=[*_seen_by_terraform(), *EDGES.values()],
    ids=[*map(matrix.name_of, _seen_by_terraform()), *EDGES],
)
def terraform_project(
    request: pytest.FixtureRequest,
    infrastructure: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """What Terraform sees of a project, for each choice and for answers at the edges."""
    folder = tmp_path_factory.mktemp("terraform") / "project"
    return render(infrastructure, folder, {"deploy": "terraform"} | request.param)
