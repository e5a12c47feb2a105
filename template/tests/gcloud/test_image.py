"""The image starts what the project starts everywhere."""

import json
import os
import subprocess
from pathlib import Path

from tests.support.gcloud import ROOT


def test_it_starts_what_the_procfile_says(tmp_path: Path) -> None:
    _, command = (ROOT / "Procfile").read_text().strip().split(": ", 1)
    program = tmp_path / command.split()[0]
    program.write_text('#!/bin/sh\necho "${0##*/} $*"\n')
    program.chmod(0o755)
    (line,) = [
        line.removeprefix("CMD ")
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("CMD ")
    ]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    started = subprocess.run(
        json.loads(line),
        cwd=ROOT,
        env={"PATH": path, "PORT": "8123"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert started.stdout.split() == command.replace("$PORT", "8123").split()
