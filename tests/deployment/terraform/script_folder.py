"""The scripts that call Terraform, in a folder with a small configuration in the place of ours."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.rendering import ROOT, clean_environment


class ScriptFolder:
    """A folder with the scripts, a `main.tf`, and a gcloud that notes what it is asked for.

    `gcloud` is the text of that program, which adds its arguments to the file `$CALLS`.
    """

    def __init__(self, path: Path, configuration: str, gcloud: str) -> None:
        self.infra = path / "project" / "infra"
        self.infra.mkdir(parents=True)
        for script in (ROOT / "template" / "infra").glob("*.sh"):
            shutil.copy(script, self.infra)
        (self.infra / "main.tf").write_text(configuration)
        self.calls = path / "calls"
        self.calls.touch()
        tools = path / "tools"
        tools.mkdir()
        (tools / "gcloud").write_text(gcloud)
        (tools / "gcloud").chmod(0o755)
        self.environment = clean_environment() | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "CALLS": os.fspath(self.calls),
        }

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `SCRIPT.sh`, which asks nothing."""
        return subprocess.run(
            [self.infra / f"{script}.sh", "-auto-approve", "-no-color"],
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def output(self, name: str) -> Any:
        """An output, as the state remembers it."""
        state = json.loads((self.infra / "terraform.tfstate").read_text())
        return state["outputs"][name]["value"]
