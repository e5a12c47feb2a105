"""Rendering the template as its users do, through Copier's public interface and without trust."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import copier
import pytest
import yaml
from copier._main import Worker
from copier._template import load_template_config
from jinja2 import Environment

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("copier.yml", "hooks", "template")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, as an author of the tests' own, and return what it prints."""
    author = ("-c", "user.name=Tests", "-c", "user.email=tests@example.com")
    command = ["git", *author, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, message: str) -> None:
    """Commit everything in a folder, which becomes a repository if it is none."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


def sources() -> list[str]:
    """The paths of all files of the template, committed or not, but for ignored ones."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SOURCES)
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


def _copy(name: str, destination: Path) -> None:
    target = destination / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / name, target)


def snapshot(destination: Path) -> Path:
    """Copy the template as it stands; edits made meanwhile then reach no test half-way."""
    for name in sources():
        _copy(name, destination)
    return destination


def questionnaire_alone(destination: Path) -> Path:
    """Copy the questionnaire with only those files whose text depends on the answers."""
    for name in sources():
        if not name.startswith("template/") or name.endswith(".jinja"):
            _copy(name, destination)
    return destination


def part(template: Path, destination: Path, *paths: str) -> Path:
    """Copy the questionnaire with these of the template's files and folders, to render sooner."""
    shutil.copy(template / "copier.yml", destination)
    shutil.copytree(template / "hooks", destination / "hooks")
    for path in (*paths, "{{ _copier_conf.answers_file }}.jinja"):
        source, target = template / "template" / path, destination / "template" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    return destination


@cache
def asked(template: Path, version: str) -> set[str]:
    """The names of the questions of a version of a template."""
    text = (
        (template / "copier.yml").read_text()
        if version == "HEAD"
        else git(template, "show", f"{version}:copier.yml")
    )
    return {name for name in yaml.safe_load(text) if name[0] != "_"}


def render(
    template: Path, project: Path, answers: dict[str, Any] | None = None, version: str = "HEAD"
) -> Path:
    """Render a version of the template with the answers given and the defaults of all others.

    Raises:
        ValueError: an answer is refused; the message is the one that a user reads. Or no question
            asks for it, which Copier would not say.
    """
    if unknown := set(answers or ()) - asked(template, version):
        raise ValueError(f"no question asks for: {', '.join(unknown)}")
    copier.run_copy(
        str(template),
        project,
        data=answers,
        vcs_ref=version,
        defaults=True,
        quiet=True,
        unsafe=False,
        settings=copier.Settings(),
    )
    return project


@contextmanager
def quick_renders() -> Iterator[None]:
    """Make many renders in one process quick, and their results no different.

    For each file that it writes, Copier renders every part of the path, which here has nothing to
    render but in the answers file's, works out the latter's path, and asks git, for systems on
    which git cannot see which can be executed. It compiles each text anew for each project, as it
    copies the template for each.
    """
    compiled, paths, loaded = dict[object, Any](), dict[str, Path](), dict[bytes, Any]()
    compile_anew, render_string = Environment.compile, Worker._render_string
    find_path = vars(Worker)["answers_relpath"].fget

    def compile_once(
        self: Environment, source: Any, name: str | None = None, filename: Any = None, **how: Any
    ) -> Any:
        key = (source, name, *how.items())
        if key not in compiled:
            compiled[key] = compile_anew(self, source, name, filename, **how)
        return compiled[key]

    def load_once(path: Path, quiet: bool = False) -> dict[str, Any]:
        key = path.read_bytes()
        if key not in loaded:
            loaded[key] = load_template_config(path, quiet)
        return deepcopy(loaded[key])

    def render_expressions(self: Worker, string: str, **context: Any) -> str:
        is_plain = isinstance(string, str) and "{" not in string
        return string if is_plain else render_string(self, string, **context)

    def path_of_answers(self: Worker) -> Path:
        name = str(self.answers_file or self.template.answers_relpath)
        if name not in paths:
            paths[name] = find_path(self)
        return paths[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "compile", compile_once)
        patch.setattr(Worker, "_render_string", render_expressions)
        patch.setattr(Worker, "answers_relpath", property(path_of_answers))
        patch.setattr("copier._main.is_git_available", lambda: False)
        patch.setattr("copier._template.load_template_config", load_once)
        yield


def files_of(project: Path) -> dict[str, bytes]:
    """The files of a rendered project, by their paths inside it."""
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file()
    }


def clean_environment() -> dict[str, str]:
    """The environment without the traces of the virtual environment that runs the tests."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in {"VIRTUAL_ENV", "ARGS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
        and not name.startswith(("PYTEST_", "COPIER_"))
    }


def run(project: Path, *arguments: str, python: str | Path = sys.executable) -> None:
    """Run a Python module in a project and fail with what it says."""
    command = [python, "-m", *arguments]
    result = subprocess.run(
        command, cwd=project, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def share_tools(project: Path) -> None:
    """Give a project this environment in the place of one of its own, as if it were installed."""
    environment = project / ".venv"
    environment.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (environment / name).symlink_to(Path(sys.prefix, name))
    (environment / ".ready").touch()
