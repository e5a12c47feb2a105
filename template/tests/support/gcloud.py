"""The deployment scripts, run against a gcloud that only notes what it is told."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.platforms import Call, Service, platforms

ROOT = Path(__file__).resolve().parents[2]
OWN = "# Your settings go below this line."
_FAKE = Path(__file__).with_name("fake_gcloud")


def parts(kind: str) -> list[str]:
    """Return which parts of a kind (kind, target, platform, store, auth) this project has.

    The chosen one is the first. Those of a platform whose files the project lacks are left out.
    """
    config = (ROOT / "deploy" / "config.sh").read_text()
    chosen = re.findall(rf"(?m)^{_setting(kind)}=(.*)$", config)
    there = {path.stem for path in (ROOT / "deploy" / kind).glob("*.sh")}
    lacking = {
        part
        for platform in platforms()
        for part in platform.parts
        if not all((ROOT / file).exists() for file in platform.files)
    }
    return [*chosen, *sorted(there - lacking - set(chosen))]


def _setting(kind: str) -> str:
    """Return by which name deploy/config.sh says the choice: TARGET is what an owner sets."""
    return "TARGET_KIND" if kind == "target" else kind.upper()


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a run of the scripts told gcloud, in the order of the calls."""

    calls: list[Call]

    def flags(self, command: str) -> dict[str, str]:
        """Return the flags of the one call whose words begin with `command`."""
        (found,) = [call.flags for call in self.calls if call.words.startswith(command)]
        return found

    @property
    def service(self) -> Service:
        """The service, on the platform on which it was deployed."""
        (platform,) = [
            one
            for one in platforms()
            if any(call.words.startswith(one.command) for call in self.calls)
        ]
        return platform.read(self.calls)

    @property
    def job(self) -> dict[str, str]:
        """The flags of the Cloud Scheduler job."""
        return self.flags("scheduler jobs create ")

    @property
    def job_uri(self) -> str:
        """What the job calls; only a path where it calls a service by its name."""
        return self.job.get("--uri") or self.job["--relative-url"]

    @property
    def environment(self) -> dict[str, str]:
        """The service's environment: plain values, what secrets hold, and the platform's own."""
        service = self.service
        secrets = {
            name: self.secret(secret)
            for name, secret in service.secrets.items()
            if not name.startswith("/")
        }
        return {**service.variables, **secrets, **service.own}

    def secret(self, name: str) -> str:
        """Return what was put into a secret."""
        (found,) = [
            call.given for call in self.calls if call.words == f"secrets versions add {name}"
        ]
        return found

    @property
    def root(self) -> str:
        """The URL of the service."""
        place = urlsplit(self.job_uri)
        return f"{place.scheme}://{place.netloc}"


class Stopped(Exception):
    """A script has stopped. `str()` is what it said."""


def first_parts() -> dict[str, str]:
    """Return the first part of each kind that this project has."""
    kinds = ("kind", "target", "platform", "store", "auth")
    return {kind: parts(kind)[0] for kind in kinds if parts(kind)}


def deploy(
    folder: Path,
    answers: dict[str, str],
    environment: dict[str, str] | None = None,
    *,
    installed: bool = True,
    own: str = "",
) -> Deployed:
    """Set up and deploy a copy of this project, with the parts that `answers` names.

    `own` is what its owner has added to deploy/config.sh, below the line for that.

    Raises:
        Stopped: one of the scripts has stopped.
    """
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed, which the deployment scripts need")
    project, programs, calls = folder / "project", folder / "bin", folder / "calls"
    shutil.copytree(ROOT / "deploy", project / "deploy")
    config = project / "deploy" / "config.sh"
    text = config.read_text()
    for kind, name in answers.items():
        setting = _setting(kind)
        text = re.sub(rf"(?m)^{setting}=.*$", f"{setting}={name}", text)
    config.write_text(text.replace(f"{OWN}\n", f"{OWN}\n{own}\n"))
    (project / "job_body.json").write_text("{}\n")
    for lock in ("uv.lock", "requirements.txt") if installed else ():
        (project / lock).touch()
    for file in [file for platform in platforms() for file in platform.files]:
        if (ROOT / file).exists():
            shutil.copy(ROOT / file, project)
    programs.mkdir()
    shutil.copy(_FAKE / "gcloud.sh", programs / "gcloud")
    # The retry budget takes longer than all the rest, and derives the same each time.
    (programs / "python").write_text(
        '#!/bin/sh\ncase "$*" in *dev.budget*) echo --max-retry-attempts=5 ;;'
        f' *) exec "{sys.executable}" "$@" ;; esac\n'
    )
    for program in programs.iterdir():
        program.chmod(0o755)
    # What a developer has set for `make serve` is none of the deployment's.
    settings = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": os.fspath(programs / "python"),
        "PYTHONPATH": os.fspath(ROOT),
        "CALLS": os.fspath(calls),
        "PARTS": os.fspath(_FAKE),
        "REGION": "us-central1",
        "SERVICE": "nightly-report",
        "THERE": "app services describe default",
        **_owners(answers.get("target", "")),
    }
    for script in ("setup.sh", "deploy.sh"):
        result = subprocess.run(
            [project / "deploy" / script],
            env=settings | (environment or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise Stopped(result.stdout + result.stderr)
    return Deployed([_call(record) for record in calls.read_text().split("\x1e")[:-1]])


def _owners(target: str) -> dict[str, str]:
    """What the owner sets before the first deployment, whatever kind of service it is."""
    settings = {
        "CALLERS": "one@example.iam.gserviceaccount.com,two@example.iam.gserviceaccount.com",
        "STEP_URL": "https://step.example/charge",
        "STEP_AUDIENCE": "",
        "TARGET_ACCOUNT": "acting@example.iam.gserviceaccount.com",
        "TARGET_KIND": target,
    }
    if target:
        script = (ROOT / "deploy" / "target" / f"{target}.sh").read_text()
        forms = re.findall(r"projects/PROJECT/[A-Za-z/]+|https://HOST/PATH", script)
        settings["TARGET"] = "".join(forms).lower()
    return settings


def _call(record: str) -> Call:
    listed, given = record.split("\x1f\x1f")
    arguments = listed.split("\x1f")
    words = " ".join(argument for argument in arguments if not argument.startswith("--"))
    flags = [argument.partition("=") for argument in arguments if argument.startswith("--")]
    return Call(words, {name: value for name, _, value in flags}, given)
