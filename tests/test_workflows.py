"""The workflows of GitHub Actions, the template's own and those that it gives to projects."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matrix
from tests.rendering import ROOT, part, render

pytestmark = pytest.mark.slow

PROGRAMS = Path(sys.executable).parent
ZIZMOR = ("zizmor", "--offline", "--no-progress", "--persona", "pedantic")
ACTIONLINT = ("actionlint", "-color=false")
OWN = ROOT / ".github" / "workflows" / "ci.yml"


def check(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a checker, with the others on its PATH: actionlint has shellcheck read each script."""
    program, *arguments = command
    return subprocess.run(
        [PROGRAMS / program, *arguments],
        env=os.environ | {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folders(template: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The projects of as many variants as it takes to see each of their workflows."""
    small = part(template, tmp_path_factory.mktemp("template"), ".github")
    paths = small.rglob("template/.github/**/*.jinja")
    asked = sorted(set[str]().union(*(matrix.names_in(path.read_text()) for path in paths)))
    rendered = tmp_path_factory.mktemp("rendered")
    return [
        render(small, rendered / f"{number}", dict(answers))
        for number, answers in enumerate(matrix.one_of_every(asked))
    ]


@pytest.fixture(scope="module")
def workflows(folders: list[Path]) -> list[Path]:
    """Every distinct workflow, of projects and of the template itself."""
    every = [OWN, *(path for folder in folders for path in folder.glob(".github/workflows/*"))]
    return list({path.read_bytes(): path for path in every}.values())


def jobs(workflows: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The jobs of workflows."""
    for path in workflows:
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            yield path, job


def actions(text: str) -> set[str]:
    """The actions that a workflow uses, each with its commit and the comment about its version."""
    return set(re.findall(r"^ +-? *uses: (.*)$", text, re.MULTILINE))


class TestEveryWorkflow:
    def test_each_store_and_deployment_has_its_own(self, workflows: list[Path]) -> None:
        """Two ways to deploy, three stores, and App Engine's older Python."""
        assert [path.name for path in workflows].count("ci.yml") == 1 + 2 * 3 * 2

    def test_it_does_what_its_writer_meant(self, workflows: list[Path]) -> None:
        done = check(*ACTIONLINT, *workflows)
        assert done.returncode == 0, done.stdout

    def test_it_can_be_trusted(self, workflows: list[Path]) -> None:
        """Actions by their commit, least permissions, no credentials left behind, and so on."""
        done = check(*ZIZMOR, *workflows)
        assert done.returncode == 0, done.stdout

    def test_no_job_goes_on_for_hours(self, workflows: list[Path]) -> None:
        assert all(job["timeout-minutes"] <= 60 for _, job in jobs(workflows))

    def test_only_the_teller_of_the_issue_may_write(self, workflows: list[Path]) -> None:
        writers = {
            (path.name, *job["permissions"])
            for path, job in jobs(workflows)
            if set(job["permissions"].items()) != {("contents", "read")}
        }
        assert writers == {("template.yml", "issues")}

    def test_the_actions_are_the_ones_that_the_template_uses_itself(
        self, workflows: list[Path]
    ) -> None:
        used = set[str]().union(*(actions(path.read_text()) for path in workflows))
        assert used
        assert used == actions(OWN.read_text())


class TestDependabot:
    def test_its_file_has_the_form_that_github_reads(self, folders: list[Path]) -> None:
        path = folders[0] / ".github" / "dependabot.yml"
        done = check("check-jsonschema", "--builtin-schema", "vendor.dependabot", path)
        assert done.returncode == 0, done.stdout

    def test_it_changes_nothing_that_comes_with_the_template(self, folders: list[Path]) -> None:
        """Ranges, actions and images do: a second writer would make each update conflict."""
        told = yaml.safe_load((folders[0] / ".github" / "dependabot.yml").read_text())
        (update,) = told["updates"]
        assert (update["package-ecosystem"], update["versioning-strategy"]) == (
            "uv",
            "lockfile-only",
        )

    def test_it_can_be_trusted(self, folders: list[Path]) -> None:
        done = check(*ZIZMOR, folders[0])
        assert done.returncode == 0, done.stdout
        assert "dependabot.yml" in done.stdout


@pytest.mark.parametrize(
    ("good", "bad", "program"),
    [
        ("@8e8c483db84b4bee98b60c0593521ed34d9990e8 # v6.0.1", "@v6", "zizmor"),
        ("permissions: {}", "permissions: write-all", "zizmor"),
        ("run: make check", "run: echo ${{ github.head_ref }}", "zizmor"),
        ("run: make check", "run: echo $HOME/*", "actionlint"),
        ("run: make check", "run: make check ${{ matrix.python }}", "actionlint"),
        ("timeout-minutes: 60", "time-out: 60", "actionlint"),
    ],
)
def test_the_checkers_can_refuse(tmp_path: Path, good: str, bad: str, program: str) -> None:
    text = OWN.read_text()
    assert good in text
    path = tmp_path / ".github" / "workflows" / "ci.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace(good, bad))
    command = {"zizmor": ZIZMOR, "actionlint": ACTIONLINT}[program]
    done = check(*command, path)
    assert done.returncode != 0
    assert path.name in done.stdout


def test_shellcheck_is_there_for_actionlint() -> None:
    """Without it, actionlint would look at no script, and say nothing."""
    assert shutil.which("shellcheck", path=PROGRAMS)
