"""The folders in which commands are run: projects and repositories, apart from the real one."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.docs.places import Place
from tests.ports import free_port
from tests.rendering import ROOT, clean_environment, commit, git, render

FAKE_GCLOUD = ROOT / "template" / "tests" / "support" / "fake_gcloud"
"""The gcloud of a project's own tests: `make setup` and `make deploy` run with the real one in
tests/deployment, which takes its time."""

LEFT_OUT = ("REQUIRE_STORES", "RUN_STORE_URL", "AUTH", "PORT", "K_SERVICE", "GAE_ENV")


class Kitchen:
    """Makes sandboxes in a folder, quicker the second time."""

    def __init__(self, folder: Path, template: Path) -> None:
        self._folder = folder
        self._template = template
        self._made = dict[str, Path]()
        self._number = 0

    def rendered(self, answers: Mapping[str, Any]) -> Path:
        """Return a project with these answers, which is to be left as it is."""
        key = repr(sorted(answers.items()))
        if key not in self._made:
            folder = self._folder / f"made-{len(self._made)}"
            self._made[key] = render(self._template, folder, dict(answers))
        return self._made[key]

    def project(self, answers: Mapping[str, Any]) -> Path:
        """Return a new project, committed and installed."""
        project = self._new() / "my-job"
        shutil.copytree(self.rendered(answers), project)
        if answers.get("deploy") == "terraform":
            _leave_google_out(project / "infra")
        _install(project)
        commit(project, "Start from the template")
        return project

    def repository(self) -> Path:
        """Return a new clone of the repository as it stands, with its environment."""
        if "" not in self._made:
            made = self._folder / "repository"
            listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
            for name in filter(None, listed.split("\0")):
                if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
                    (made / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, made / name)
            commit(made, "The repository")
            git(made, "tag", "v1.0.0")
            self._made[""] = made
        repository = self._new() / "scheduler-once"
        shutil.copytree(self._made[""], repository)
        return repository

    def released(self) -> Path:
        """Return a new project of a template that has a newer version, as its owner has left it.

        Owner and template have both changed the line of the Makefile that calls mypy.
        """
        if "released" not in self._made:
            template = self._folder / "releases"
            shutil.copytree(self._template, template, ignore=_slow_to_render)
            commit(template, "First release")
            git(template, "tag", "v1.0.0")
            _edit(template / "template" / "Makefile", "-m mypy", "-m mypy --pretty")
            commit(template, "Second release")
            git(template, "tag", "v1.1.0")
            project = self._folder / "released"
            render(template, project, version="v1.0.0")
            _edit(project / "Makefile", "-m mypy", "-m mypy app")
            self._made["released"] = project
        project = self._new() / "my-job"
        shutil.copytree(self._made["released"], project)
        _install(project)
        commit(project, "Work")
        return project

    def place(self, place: Place) -> Path:
        """Return a new folder in which a reader of a document would be."""
        if place.repository:
            return self.repository()
        return self.released() if place.released else self.project(place.answers)

    def _new(self) -> Path:
        self._number += 1
        folder = self._folder / f"sandbox-{self._number}"
        folder.mkdir()
        return folder


def tools(folder: Path) -> Path:
    """Make a folder of programs that stand in for what would download."""
    folder.mkdir()
    for name in ("uv", "uvx"):
        (folder / name).symlink_to(Path(__file__).with_name("uv.sh"))
    return folder


def environment(home: Path, programs: list[Path]) -> dict[str, str]:
    """Return the environment of a sandbox: a person without a past, and programs before others."""
    home.mkdir(exist_ok=True)
    # It shows its progress where its output is no terminal.
    (home / ".curlrc").write_text("silent\nshow-error\n")
    person = {
        "HOME": os.fspath(home),
        "GIT_AUTHOR_NAME": "Reader",
        "GIT_AUTHOR_EMAIL": "reader@example.com",
        "GIT_COMMITTER_NAME": "Reader",
        "GIT_COMMITTER_EMAIL": "reader@example.com",
        "GIT_CONFIG_GLOBAL": os.fspath(home / ".gitconfig"),
        "XDG_CONFIG_HOME": os.fspath(home / ".config"),
    }
    kept = {
        name: value
        for name, value in clean_environment().items()
        if name not in LEFT_OUT and not name.startswith(("CLOUDSDK_", "TF_"))
    }
    path = os.pathsep.join([*map(os.fspath, programs), kept["PATH"]])
    return (
        kept
        | person
        | {
            "GIT_EDITOR": "true",
            "TF_CLI_ARGS_apply": "-auto-approve",
            "TF_CLI_ARGS_destroy": "-auto-approve",
            "PATH": path,
            "PORT": str(free_port()),
            "SHARED": sys.prefix,
            "COLUMNS": "100",
            "PARTS": os.fspath(FAKE_GCLOUD),
            "CALLS": os.fspath(home / "calls"),
        }
    )


_LOOKED_AT: Final = ("stores", "hooks")


def _slow_to_render(folder: str, names: list[str]) -> list[str]:
    """Leave out what no page about updates looks at; Copier looks at each file several times."""
    if Path(folder).name in _LOOKED_AT:
        return []
    return [
        name for name in names if name.endswith((".py", ".sh", ".tf")) and name != "defaults.py"
    ]


def _leave_google_out(infra: Path) -> None:
    """Put a small configuration in the place of ours, which needs the provider to be downloaded.

    What ours makes is proved in tests/deployment/terraform.
    """
    for path in [*infra.glob("*.tf"), *infra.glob("*.tfvars")]:
        path.unlink()
    shutil.copy(Path(__file__).with_name("without_google.tf"), infra / "main.tf")


def _edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def _install(project: Path) -> None:
    """Make a project look installed to make, as `uv sync` would leave it."""
    environment = project / ".venv"
    (environment / "bin").mkdir(parents=True)
    for program in Path(sys.prefix, "bin").iterdir():
        (environment / "bin" / program.name).symlink_to(program)
    for name in ("uv", "uvx", "copier"):
        (environment / "bin" / name).unlink(missing_ok=True)
        (environment / "bin" / name).symlink_to(Path(__file__).with_name("uv.sh"))
    (environment / "lib").symlink_to(Path(sys.prefix, "lib"))
    shutil.copy(Path(sys.prefix, "pyvenv.cfg"), environment)
    (project / "uv.lock").touch()
    if (project / "requirements.mk").exists():
        (project / "requirements.txt").touch()
    (environment / ".ready").touch()
