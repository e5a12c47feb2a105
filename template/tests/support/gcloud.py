"""The deployment scripts, run against a gcloud that only notes what it is told."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
_FAKE = Path(__file__).with_name("fake_gcloud")


def parts(kind: str) -> list[str]:
    """Return which parts of a kind (kind, target, platform, store, auth) this project has."""
    return sorted(path.stem for path in (ROOT / "deploy" / kind).glob("*.sh"))


@dataclass(frozen=True, slots=True)
class Call:
    """One call of gcloud: its words, its flags by name, and what came by its standard input."""

    words: str
    flags: dict[str, str]
    given: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a run of the scripts told gcloud, in the order of the calls."""

    calls: list[Call]

    def flags(self, command: str) -> dict[str, str]:
        """Return the flags of the one call whose words begin with `command`."""
        (found,) = [call.flags for call in self.calls if call.words.startswith(command)]
        return found

    @property
    def service(self) -> dict[str, str]:
        """The flags of the service's deployment."""
        return self.flags("run deploy")

    @property
    def job(self) -> dict[str, str]:
        """The flags of the Cloud Scheduler job."""
        return self.flags("scheduler jobs create http")

    @property
    def environment(self) -> dict[str, str]:
        """The service's environment: plain values, what secrets hold, and the platform's own."""
        changes = self.service["--update-env-vars"]
        separator, listed = changes[1], changes[3:]
        found = dict(item.split("=", 1) for item in listed.split(separator))
        for name, secret in self.secrets.items():
            if not name.startswith("/"):
                found[name] = self.secret(secret)
        return found | {"K_SERVICE": found["SERVICE"]}

    @property
    def secrets(self) -> dict[str, str]:
        """Secrets by the variable or the file of the service that gets them."""
        listed = self.service.get("--update-secrets", "")
        pairs = [item.split("=", 1) for item in listed.split(",") if item]
        return {name: secret.removesuffix(":latest") for name, secret in pairs}

    def secret(self, name: str) -> str:
        """Return what was put into a secret."""
        (found,) = [
            call.given for call in self.calls if call.words == f"secrets versions add {name}"
        ]
        return found

    @property
    def root(self) -> str:
        """The URL of the service."""
        place = urlsplit(self.job["--uri"])
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
) -> Deployed:
    """Set up and deploy a copy of this project, with the parts that `answers` names.

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
        # `TARGET` is the name of what is started.
        variable = "TARGET_KIND" if kind == "target" else kind.upper()
        text = re.sub(rf"(?m)^{variable}=.*$", f"{variable}={name}", text)
    config.write_text(text)
    (project / "job_body.json").write_text("{}\n")
    for lock in ("uv.lock", "requirements.txt") if installed else ():
        (project / lock).touch()
    programs.mkdir()
    shutil.copy(_FAKE / "gcloud.sh", programs / "gcloud")
    # The project's own code takes longer than all the rest, and derives the same each time.
    (programs / "python").write_text("#!/bin/sh\necho --max-retry-attempts=5\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    # What a developer has set for `make serve` is none of the deployment's.
    settings = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": os.fspath(programs / "python"),
        "PYTHONPATH": os.fspath(ROOT),
        "CALLS": os.fspath(calls),
        "STORES": os.fspath(_FAKE),
        "SERVICE": "nightly-report",
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
