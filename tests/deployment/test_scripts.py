"""The scripts and the Dockerfile of every project are clean, and the scripts stop at errors."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import matrix
from tests.conftest import IsFirst, Render
from tests.deployment.conftest import Sites
from tests.rendering import ROOT, clean_environment, render

PROGRAMS = Path(sys.executable).parent

DEFAULTS = {name: matrix.values_of(name)[0] for name in matrix.choice_questions()}


def clean(project: Path, program: str, *arguments: str | Path) -> None:
    """Run a checker, which must find nothing."""
    command = [PROGRAMS / program, *arguments]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


CHECKERS = {
    "*.sh": ["shellcheck", "--external-sources", "--source-path=SCRIPTDIR"],
    "*.y*ml": [
        "yamllint",
        "--strict",
        "--config-data",
        "{extends: relaxed, rules: {line-length: disable}}",
    ],
    "Dockerfile": ["hadolint"],
}


@pytest.mark.slow
@pytest.mark.parametrize("answers", matrix.pairwise(), ids=matrix.name_of)
def test_checkers_find_nothing(
    template: Path, tmp_path: Path, is_first: IsFirst, answers: matrix.Answers
) -> None:
    project = render(template, tmp_path / "project", dict(answers))
    for pattern, checker in CHECKERS.items():
        # Of a file that is the same in many variants, each is asked once.
        paths = project.rglob(pattern)
        if new := [path for path in paths if is_first(f"{checker[0]} {path.read_text()}")]:
            clean(project, *checker, *new)


@pytest.mark.parametrize(
    ("question", "answer", "variable"),
    [
        ("schedule", "0-30/5,45 0,12 1-7 */2 MON-FRI", "SCHEDULE"),
        ("time_zone", "America/Port-au-Prince", "TIME_ZONE"),
        ("gcp_project", "example.com:proj", "GOOGLE_CLOUD_PROJECT"),
    ],
)
def test_an_answer_reaches_the_scripts_as_it_is(
    rendered: Render, question: str, answer: str, variable: str
) -> None:
    config = rendered(**{question: answer}) / "deploy" / "config.sh"
    read = subprocess.run(
        ["bash", "-c", f'set -eu; source "$0"; printf %s "${variable}"', config],
        env={},
        check=True,
        capture_output=True,
        text=True,
    )
    assert read.stdout == answer


@pytest.mark.slow
class TestErrors:
    """With the real gcloud, whose words the scripts have to understand."""

    def test_a_failing_call_stops_with_the_remedy(self, site: Sites) -> None:
        here = site(DEFAULTS)
        here.recorder.fail("POST", "/serviceAccounts$", 403, "PERMISSION_DENIED", "you may not")
        result = here.run("setup")
        assert result.returncode == 1
        assert "you may not" in result.stdout
        assert "Stopped: could not create the account nightly-report-runner." in result.stdout
        assert "roles/iam.serviceAccountAdmin" in result.stdout
        assert here.recorder.requests[-1].path.endswith("/serviceAccounts")

    def test_what_cannot_be_seen_is_not_made_again(self, site: Sites) -> None:
        here = site(DEFAULTS)
        here.recorder.fail("GET", "/serviceAccounts/", 403, "PERMISSION_DENIED", "you may not")
        result = here.run("setup")
        assert result.returncode == 1
        assert "could not look at what is there" in result.stdout
        assert not here.recorder.sent("iam", "POST", ".*")

    def test_a_new_account_may_be_unknown_for_a_while(self, site: Sites, tmp_path: Path) -> None:
        here = site(DEFAULTS)
        refusal = "Service account nightly-report-builder@... does not exist."
        here.recorder.fail("POST", ":setIamPolicy$", 400, "INVALID_ARGUMENT", refusal, times=1)
        here.recorder.fail("GET", "/repositories/", 403, "PERMISSION_DENIED", "enough")
        sleep = tmp_path / "sleep"
        sleep.write_text("#!/bin/sh\n")
        sleep.chmod(0o755)
        result = here.run("setup", PATH=f"{tmp_path}:{here.environment['PATH']}")
        assert "enough" in result.stdout
        assert len(here.recorder.sent("cloudresourcemanager", "POST", ".*:setIamPolicy")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["cloud-run", "app-engine"])
def test_a_job_keeps_its_owners_headers_when_its_scope_changes(site: Sites, platform: str) -> None:
    """R05: an update replaces all headers, so all are sent."""
    here = site(matrix.with_defaults({"platform": platform}))
    assert here.run("setup").returncode == 0

    def deployed(scope: str) -> dict[str, str]:
        result = here.run("deploy", JOB_SCOPE=scope)
        assert result.returncode == 0, result.stdout
        (job,) = [
            made for name, made in here.recorder.resources.items() if "cloudscheduler/" in name
        ]
        target = job["httpTarget" if platform == "cloud-run" else "appEngineHttpTarget"]
        headers: dict[str, str] = target.setdefault("headers", {})
        return headers

    deployed("none")["X-Mine"] = "a,b"
    with_scope = deployed("header")
    assert (with_scope["X-Mine"], with_scope["X-Job-Location"]) == ("a,b", "us-central1")
    without = deployed("query")
    assert without.pop("X-Mine") == "a,b"
    assert not [name for name in without if name.startswith("X-Job-")]
    assert not [name for name in deployed("none") if name.startswith("X-")]


@pytest.mark.slow
@pytest.mark.parametrize("length", range(18, 50))
@pytest.mark.parametrize(("purpose", "limit"), [("vpc", 25), ("workflow", 30), ("runs", 40)])
def test_names_fit(purpose: str, limit: int, length: int) -> None:
    script = f"source deploy/names.sh; fitted {purpose} {limit}"
    result = subprocess.run(
        ["bash", "-euc", script],
        cwd=ROOT / "template",
        env=clean_environment() | {"SERVICE": "a" * length, "GOOGLE_CLOUD_PROJECT": "p"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.endswith(f"-{purpose}")
    assert len(result.stdout) <= limit
