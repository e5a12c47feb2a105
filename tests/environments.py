"""Environments beside the one that runs the tests: other Pythons, other versions of Copier."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.rendering import clean_environment


class Uv:
    """uv, which is installed into `folder` where the machine has none."""

    def __init__(self, folder: Path) -> None:
        """Find it on the PATH or beside this Python, or install it."""
        beside = Path(sys.executable).with_name("uv")
        self._program = shutil.which("uv") or (os.fspath(beside) if beside.exists() else "")
        # A shim of pyenv is there for versions that are switched off, too, and then fails.
        path = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part).name != "shims"]
        self._environment = clean_environment() | {
            "PATH": os.pathsep.join(path),
            "UV_PYTHON_DOWNLOADS": "never",
        }
        if not self._program:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = os.fspath(folder / "bin" / "python")
            subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
            self._program = os.fspath(folder / "bin" / "uv")

    def run(self, *arguments: str | Path, folder: Path | None = None, **variables: str) -> str:
        """Run a command of uv in a folder, with some variables, and fail with what it says."""
        result = subprocess.run(
            [self._program, *arguments],
            cwd=folder,
            env=self._environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def python(self, version: str) -> str | None:
        """Where a Python of this version is on this machine, if there is one."""
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
        for found in sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True):
            return os.fspath(found)
        result = subprocess.run(
            [self._program, "python", "find", "--no-project", version],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return result.stdout.strip() if result.returncode == 0 else None
