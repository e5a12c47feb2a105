"""The commit hooks of a generated project, by the real pre-commit, in a real repository."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import matrix
from tests.rendering import ROOT, clean_environment, commit, git, part, render, share_tools

PRE_COMMIT = (sys.executable, "-m", "pre_commit")
CONFIGURATION = ".pre-commit-config.yaml.jinja"

Run = Callable[..., subprocess.CompletedProcess[str]]

# Hook -> a fault that it has to refuse: a file, what is written at its end, and what is said.
FAULTS = {
    "lint": ("app/urls.py", '\n\nprint("planted")\n', "app/urls.py"),
    "format": ("app/logs.py", "\n\n\n\n# Planted.\n", "app/logs.py"),
    "types": ("main.py", '\n\nPLANTED: int = "text"\n', "main.py"),
    "deployment": ("deploy/steps.sh", "echo $planted\n", "deploy/steps.sh"),
    "retries": ("app/defaults.py", "\nLEASE_SECONDS = 3600\n", "LEASE_SECONDS"),
    "secrets": ("notes.txt", "-----BEGIN PRIVATE KEY-----\n", "notes.txt"),
}


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Path:
    """The default project, installed, in a repository whose hooks are installed too."""
    folder = render(template, tmp_path / "project")
    commit(folder, "Start")
    share_tools(folder)
    return folder


@pytest.fixture
def run(project: Path, mypy_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a command in the project."""
    environment = {
        "MYPY_CACHE_DIR": os.fspath(mypy_cache),
        "PRE_COMMIT_HOME": os.fspath(tmp_path_factory.mktemp("pre-commit")),
        "PRE_COMMIT_COLOR": "never",
    }

    def in_project(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=project,
            env=clean_environment() | environment | more,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    return in_project


def results(said: str) -> dict[str, str]:
    """What pre-commit printed: hook -> `Passed`, `Failed` or `Skipped`."""
    lines = [line for line in said.splitlines() if "....." in line]
    return {line.split(".")[0]: line.rsplit(".", 1)[1] for line in lines}


@pytest.mark.slow
def test_what_is_clean_is_committed_and_what_is_not_is_refused(project: Path, run: Run) -> None:
    assert run(*PRE_COMMIT, "install").returncode == 0
    clean = run(*PRE_COMMIT, "run", "--all-files", SKIP="secrets")
    assert clean.returncode == 0, clean.stdout
    assert results(clean.stdout) == dict.fromkeys(FAULTS, "Passed") | {"secrets": "Skipped"}

    before = git(project, "rev-parse", "HEAD")
    for path, text, _ in FAULTS.values():
        with (project / path).open("a") as file:
            file.write(text)
    git(project, "add", "--all")
    refused = run("git", "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-mX")
    assert refused.returncode != 0
    assert results(refused.stdout) == dict.fromkeys(FAULTS, "Failed"), refused.stdout
    for _, _, place in FAULTS.values():
        assert place in refused.stdout
    assert git(project, "rev-parse", "HEAD") == before


def test_every_kind_and_deployment_has_the_hooks_that_it_can_run(
    template: Path, tmp_path: Path
) -> None:
    (tmp_path / "template").mkdir()
    small = part(template, tmp_path / "template", CONFIGURATION)
    asked = matrix.names_in((small / "template" / CONFIGURATION).read_text())
    assert asked == {"deploy", "kind"}
    every = [
        render(small, tmp_path / f"{number}", dict(answers)) / ".pre-commit-config.yaml"
        for number, answers in enumerate(matrix.one_of_every(sorted(asked)))
    ]
    done = subprocess.run(
        [*PRE_COMMIT, "validate-config", *every], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def scan(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the secret scan over what is in git in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "dev.secret_scan"],
        cwd=folder,
        env=clean_environment() | {"PYTHONPATH": os.fspath(ROOT / "template")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


class TestSecretScan:
    @pytest.mark.slow
    def test_no_file_of_the_template_looks_like_a_secret(self) -> None:
        """So CI and the hooks pass before an owner has written a line."""
        done = scan(ROOT / "template")
        assert done.returncode == 0, done.stdout

    def test_without_git_it_says_what_to_do(self, tmp_path: Path) -> None:
        done = scan(tmp_path)
        assert (done.returncode, "git init" in done.stdout) == (2, True)
