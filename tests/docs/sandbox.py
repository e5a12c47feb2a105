"""Where the commands of a document are run: a project or the repository, apart from the real one."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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

    def project(self, answers: Mapping[str, Any]) -> Path:
        """Return a new project, committed and installed."""
        key = repr(sorted(answers.items()))
        if key not in self._made:
            made = render(self._template, self._folder / f"made-{len(self._made)}", dict(answers))
            commit(made, "Start from the template")
            self._made[key] = made
        project = self._new() / "my-job"
        shutil.copytree(self._made[key], project)
        _install(project)
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
        "COPIER_SETTINGS_PATH": os.fspath(home / "copier.yml"),
    }
    kept = {name: value for name, value in clean_environment().items() if name not in LEFT_OUT}
    path = os.pathsep.join([*map(os.fspath, programs), kept["PATH"]])
    return kept | person | {
        "PATH": path,
        "PORT": str(free_port()),
        "SHARED": sys.prefix,
        "COLUMNS": "100",
        "PARTS": os.fspath(FAKE_GCLOUD),
        "CALLS": os.fspath(home / "calls"),
    }


def _install(project: Path) -> None:
    """Make a project look installed to make, as `uv sync` would leave it."""
    environment = project / ".venv"
    (environment / "bin").mkdir(parents=True)
    for program in Path(sys.prefix, "bin").iterdir():
        (environment / "bin" / program.name).symlink_to(program)
    for name in ("uv", "uvx"):
        (environment / "bin" / name).unlink(missing_ok=True)
        (environment / "bin" / name).symlink_to(Path(__file__).with_name("uv.sh"))
    (environment / "lib").symlink_to(Path(sys.prefix, "lib"))
    shutil.copy(Path(sys.prefix, "pyvenv.cfg"), environment)
    (project / "uv.lock").touch()
    (project / "requirements.txt").touch()
    (environment / ".ready").touch()
