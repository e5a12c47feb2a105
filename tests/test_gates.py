"""`make check` of a generated project passes as it is rendered, and refuses what is planted."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rendering import clean_environment, render, share_tools


@dataclass(frozen=True)
class Fault:
    """A fault that somebody could make, as a change of a file, and what the check says of it."""

    path: str
    pattern: str
    replacement: str
    place: str
    reason: str


END = r"\Z"
MAIN = "main.py"

EVERYWHERE = {
    "type": Fault(MAIN, END, '\n\nPLANTED: int = "text"\n', MAIN, "Incompatible types"),
    "lint": Fault(MAIN, END, '\nprint("planted")\n', MAIN, "T201"),
    "format": Fault(MAIN, END, "\nPLANTED = 'text'\n", MAIN, "would be reformatted"),
}
GCLOUD = {"shell": Fault("deploy/steps.sh", END, "echo $x\n", "deploy/steps.sh", "SC2086")}
TERRAFORM = {
    "shell": Fault("infra/steps.sh", END, "echo $x\n", "steps.sh", "SC2086"),
    "Terraform": Fault("infra/names.tf", END, "locals { x   = 1 }\n", "names.tf", r"\+.* x = 1"),
}
CONTRACT = {
    # A setting, as the environment can have it too.
    "lease": Fault(
        "app/defaults.py",
        r"(LEASE_SECONDS: .* =) \d+",
        r"\1 3600",
        "LEASE_SECONDS",
        r"A crash could lose the run: .* of \d+ or less",
    ),
}

KINDS = {
    "handler": ({"kind": "handler"}, EVERYWHERE | GCLOUD | CONTRACT),
    "proxy": ({"kind": "proxy", "deploy": "terraform"}, EVERYWHERE | TERRAFORM | CONTRACT),
    "step": ({"kind": "step", "deploy": "terraform"}, EVERYWHERE | TERRAFORM),
}
"""For each kind, answers and the faults that there can be."""


@contextmanager
def planted(project: Path, fault: Fault) -> Iterator[None]:
    """Make a fault for a while."""
    path = project / fault.path
    good = path.read_text()
    bad, changes = re.subn(fault.pattern, fault.replacement, good)
    assert changes == 1
    path.write_text(bad)
    try:
        yield
    finally:
        path.write_text(good)


@pytest.mark.slow
@pytest.mark.usefixtures("terraform")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_is_refused_and_named(
    template: Path,
    tmp_path: Path,
    mypy_cache: Path,
    subtests: pytest.Subtests,
    kind: str,
) -> None:
    answers, faults = KINDS[kind]
    project = render(template, tmp_path / "project", dict(answers))
    share_tools(project)

    def check() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", "check"],
            cwd=project,
            env=clean_environment() | {"MYPY_CACHE_DIR": os.fspath(mypy_cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    with subtests.test("the project as it is"):
        untouched = check()
        assert untouched.returncode == 0, untouched.stdout
    for name, fault in faults.items():
        with subtests.test(name), planted(project, fault):
            done = check()
            assert done.returncode != 0
            assert fault.place in done.stdout
            assert re.search(fault.reason, done.stdout), done.stdout
