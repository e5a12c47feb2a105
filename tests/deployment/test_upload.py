"""What leaves the owner's machine, what is in the image, and as whom it runs."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.rendering import ROOT, clean_environment, files_of, render

PRIVATE = (
    ".env",
    ".env.production",
    ".git/config",
    ".local/runs.db",
    ".venv/bin/python",
    "app/__pycache__/service.cpython-313.pyc",
    "infra/terraform.tfstate",
    "infra/.terraform/environment",
    "tests/secret.json",
)
"""What is on an owner's machine and nowhere else."""

NOT_FOR_THE_SERVICE = {"Makefile", "OPERATIONS.md", "README.md", "deploy", "dev", "infra", "tests"}

PLATFORMS = {
    "cloud-run": {"Dockerfile", "uv.lock"},
    "cloud-run-functions": {"requirements.txt"},
    "app-engine": {"app.yaml", "requirements.txt"},
}
"""What each platform builds from, besides the code."""


@pytest.fixture
def project(template: Path, tmp_path: Path, platform: str) -> Path:
    """A project on its owner's machine, with what is private there."""
    made = render(template, tmp_path / "project", {"platform": platform})
    for name in (*PRIVATE, *PLATFORMS[platform]):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).touch()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_only_what_the_service_needs_is_uploaded(
    project: Path, platform: str, tmp_path: Path
) -> None:
    listed = subprocess.run(
        ["gcloud", "meta", "list-files-for-upload", str(project)],
        env={**clean_environment(), "CLOUDSDK_CONFIG": str(tmp_path / "gcloud")},
        check=True,
        capture_output=True,
        text=True,
    )
    uploaded = {Path(name).as_posix() for name in listed.stdout.split("\n") if name}
    assert not uploaded & {*PRIVATE}
    assert not {name.partition("/")[0] for name in uploaded} & NOT_FOR_THE_SERVICE
    assert not [name for name in uploaded if name.startswith(".") or name.endswith(".mk")]
    code = {name for name in files_of(project) if name.startswith("app/") and name.endswith(".py")}
    assert uploaded >= code | PLATFORMS[platform] | {"main.py", "Procfile"}


class TestImage:
    @pytest.fixture
    def steps(self) -> list[tuple[str, str]]:
        """The Dockerfile's instructions, with their arguments."""
        text = (ROOT / "template" / "Dockerfile").read_text()
        lines = re.sub(r"\\\n", " ", text).splitlines()
        told = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
        return [(name, arguments) for name, arguments in told]

    def test_runs_as_a_user_of_its_own_who_owns_nothing_in_it(
        self, steps: list[tuple[str, str]]
    ) -> None:
        names = [name for name, _ in steps]
        user = names.index("USER")
        assert re.fullmatch(r"[1-9]\d{3,}", steps[user][1]), "a number, which platforms can check"
        assert set(names[user:]) <= {"USER", "EXPOSE", "CMD"}
        assert not [step for step in steps if "--chown" in step[1] or "--chmod" in step[1]]

    def test_has_one_base_which_can_be_pinned_by_its_digest(
        self, steps: list[tuple[str, str]]
    ) -> None:
        bases = {arguments.split()[0] for name, arguments in steps if name == "FROM"}
        assert bases == {"${PYTHON_IMAGE}"}
        (image,) = [arguments for name, arguments in steps if name == "ARG"]
        assert re.fullmatch(r"PYTHON_IMAGE=python:3\.\d+-slim", image)

    def test_listens_on_one_unprivileged_port(self, steps: list[tuple[str, str]]) -> None:
        assert [arguments for name, arguments in steps if name == "EXPOSE"] == ["8080"]

    def test_is_built_from_locked_libraries_and_nothing_from_elsewhere(
        self, steps: list[tuple[str, str]]
    ) -> None:
        assert "ADD" not in {name for name, _ in steps}
        runs = " ".join(arguments for name, arguments in steps if name == "RUN")
        assert "--frozen --no-dev" in runs
        assert not re.search(r"curl|wget|https?://|apt", runs)

    def test_has_no_secret(self, steps: list[tuple[str, str]]) -> None:
        given = [arguments for name, arguments in steps if name in ("ARG", "ENV")]
        assert not re.search("secret|token|password|key|credential", " ".join(given), re.IGNORECASE)

    def test_leaves_out_what_the_service_does_without(self) -> None:
        """For who builds it on his own machine, where all of it is."""
        ignored = set((ROOT / "template" / ".dockerignore").read_text().splitlines())
        assert ignored >= {".*", *NOT_FOR_THE_SERVICE, "*.mk"}
        assert {line for line in ignored if line.startswith("!")} == {"!.python-version"}
