"""The workflow that says in one issue when a project's template has a newer version."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.rendering import ROOT, clean_environment, commit, git, part, render

# GitHub's issues as `gh` sees them, in the file ISSUES. `--jq` is jq's own.
GH = """
import json, os, pathlib, subprocess, sys
file = pathlib.Path(os.environ["ISSUES"])
issues = json.loads(file.read_text())
assert os.environ["GH_TOKEN"] and os.environ["GH_REPO"]
_, kind, verb, *rest = sys.argv
assert kind == "issue"
number = int(rest.pop(0)) if verb in ("edit", "close") else 0
options = dict(zip(rest[::2], rest[1::2], strict=True))
if verb == "list":
    assert options["--state"] == "open"
    fields = options["--json"].split(",")
    found = [{name: one[name] for name in fields} for one in issues if one["open"]]
    jq = ["jq", "--raw-output", options["--jq"]]
    subprocess.run(jq, input=json.dumps(found), text=True, check=True)
elif verb == "create":
    body = pathlib.Path(options["--body-file"]).read_text()
    new = {"number": len(issues) + 1, "open": True, "title": options["--title"], "body": body}
    issues.append(new)
elif verb == "edit":
    issues[number - 1]["body"] = pathlib.Path(options["--body-file"]).read_text()
elif verb == "close":
    issues[number - 1] |= {"open": False, "comment": options["--comment"]}
else:
    sys.exit(f"gh issue {verb}?")
file.write_text(json.dumps(issues))
"""


def step(project: Path, job: str, name: str) -> dict[str, Any]:
    """A step of the workflow."""
    path = project / ".github" / "workflows" / "template.yml"
    steps = yaml.safe_load(path.read_text())["jobs"][job]["steps"]
    (found,) = [one for one in steps if one.get("name") == name]
    return dict(found)


@dataclass
class Repository:
    """A project on GitHub, whose template is a repository of releases."""

    template: Path
    project: Path
    tools: Path

    def release(self, version: str) -> None:
        """Let the template have a newer version."""
        with (self.template / "template" / ".editorconfig").open("a") as file:
            file.write(f"# {version}\n")
        commit(self.template, version)
        git(self.template, "tag", version)

    def issues(self) -> list[dict[str, Any]]:
        """All issues."""
        listed: list[dict[str, Any]] = json.loads((self.tools / "issues.json").read_text())
        return listed

    def open_issue(self, title: str) -> None:
        """Open an issue, as a person does."""
        issues = self.issues()
        issues.append({"number": len(issues) + 1, "open": True, "title": title, "body": ""})
        (self.tools / "issues.json").write_text(json.dumps(issues))

    def weekly(self) -> None:
        """Run the workflow, without what it installs."""
        versions = self.compare()
        told = {
            "GH_TOKEN": "t",
            "GH_REPO": "owner/project",
            "STALE": json.dumps(versions["update_available"]),
            "CURRENT": versions["current_version"],
            "LATEST": versions["latest_version"],
        }
        assert told.keys() == step(self.project, "tell", "Tell")["env"].keys()
        done = self._run(step(self.project, "tell", "Tell")["run"], told)
        assert done.returncode == 0, done.stdout

    def compare(self) -> dict[str, Any]:
        """Run the first job; return its output."""
        output = self.tools / "output"
        output.write_text("")
        done = self._run(
            step(self.project, "compare", "Compare")["run"], {"GITHUB_OUTPUT": str(output)}
        )
        if done.returncode:
            raise RuntimeError(done.stdout)
        name, _, value = output.read_text().partition("=")
        assert name == "versions"
        versions: dict[str, Any] = json.loads(value)
        return versions

    def _run(self, script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        path = f"{self.tools}{os.pathsep}{Path(sys.executable).parent}"
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.project,
            env=clean_environment()
            | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
            | {"ISSUES": str(self.tools / "issues.json")}
            | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture
def repository(template: Path, tmp_path: Path) -> Repository:
    """A project of the template's first release."""
    for folder in ("template", "tools"):
        (tmp_path / folder).mkdir()
    tools = tmp_path / "tools"
    (tools / "issues.json").write_text("[]")
    (tools / "gh").write_text(f"#!{sys.executable}\n{GH}")
    (tools / "gh").chmod(0o755)
    small = part(template, tmp_path / "template", ".github", ".editorconfig")
    commit(small, "v1.0.0")
    git(small, "tag", "v1.0.0")
    project = render(small, tmp_path / "project", version="v1.0.0")
    commit(project, "Start")
    return Repository(small, project, tools)


@pytest.fixture
def jq() -> None:
    if shutil.which("jq") is None:
        if os.environ.get("REQUIRE_STORES"):
            pytest.fail("jq is not installed")
        pytest.skip("jq is not installed")


@pytest.mark.slow
@pytest.mark.usefixtures("jq")
def test_one_issue_is_opened_renewed_and_closed(repository: Repository) -> None:
    repository.open_issue("Something else")
    repository.weekly()
    (other,) = repository.issues()

    repository.release("v1.1.0")
    repository.weekly()
    issue = repository.issues()[1]
    assert "version 1.0.0 of its template, and there is 1.1.0" in issue["body"]
    assert "    uvx copier update --defaults\n" in issue["body"]

    repository.release("v2.0.0")
    repository.weekly()
    issue = repository.issues()[1]
    assert "there is 2.0.0" in issue["body"]

    answers = repository.project / ".copier-answers.yml"
    answers.write_text(answers.read_text().replace("v1.0.0", "v2.0.0"))
    repository.weekly()
    assert repository.issues() == [
        other,
        {**issue, "open": False, "comment": "The project has version 2.0.0."},
    ]


def test_a_template_out_of_reach_fails_with_the_remedy(repository: Repository) -> None:
    """Not: "the project is up to date"."""
    repository.template.rename(repository.template.with_name("elsewhere"))
    with pytest.raises(RuntimeError, match=r"::error file=\.copier-answers\.yml::.*address"):
        repository.compare()


def test_copier_is_the_one_that_the_template_is_tested_with() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    (version,) = re.findall(r"^copier==\S+", lock, re.MULTILINE)
    installed = step(ROOT / "template", "compare", "Install Copier")["run"]
    assert installed == f"python -m pip install {version}"
