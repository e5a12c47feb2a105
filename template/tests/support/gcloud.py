"""The deployment scripts, run against a gcloud that only notes what it is told."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
_FAKE = Path(__file__).with_name("fake_gcloud")


def parts(kind: str) -> list[str]:
    """Return which parts of a kind (kind, target, platform, store, auth) this project has.

    The chosen one is the first. Some need a file that only their own projects have.
    """
    config = (ROOT / "deploy" / "config.sh").read_text()
    chosen = re.findall(rf"(?m)^{_setting(kind)}=(.*)$", config)
    needed = {"app-engine": ROOT / "app.yaml"}
    there = {path.stem for path in (ROOT / "deploy" / kind).glob("*.sh")}
    there = {part for part in there if part not in needed or needed[part].exists()}
    return [*chosen, *sorted(there - set(chosen))]


def _setting(kind: str) -> str:
    """Return by which name deploy/config.sh says the choice: TARGET is what an owner sets."""
    return "TARGET_KIND" if kind == "target" else kind.upper()


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
        """The flags of the service's deployment on Cloud Run."""
        return self.flags("run deploy")

    @property
    def app(self) -> dict[str, Any]:
        """What is deployed on App Engine in the place of app.yaml."""
        yaml = pytest.importorskip("yaml")
        (given,) = [call.given for call in self.calls if call.words.startswith("app deploy ")]
        loaded: dict[str, Any] = yaml.safe_load(given)
        return loaded

    @property
    def on_app_engine(self) -> bool:
        """Whether the service is there, and not on Cloud Run."""
        return any(call.words.startswith("app deploy ") for call in self.calls)

    @property
    def account(self) -> str:
        """The address of the account as which the service runs."""
        if self.on_app_engine:
            return str(self.app["service_account"])
        return self.service["--service-account"]

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
        found = self._variables()
        for name, secret in self.secrets.items():
            if not name.startswith("/"):
                found[name] = self.secret(secret)
        if self.on_app_engine:
            return found | {"GAE_ENV": "standard", "GOOGLE_CLOUD_PROJECT": "my-project"}
        return found | {"K_SERVICE": found["SERVICE"]}

    def _variables(self) -> dict[str, str]:
        if self.on_app_engine:
            return dict(self.app["env_variables"])
        changes = self.service["--update-env-vars"]
        separator, listed = changes[1], changes[3:]
        return dict(item.split("=", 1) for item in listed.split(separator))

    @property
    def secrets(self) -> dict[str, str]:
        """Secrets by the variable or the file of the service that gets them."""
        if self.on_app_engine:
            listed = self._variables().get("SECRETS", "")
        else:
            listed = self.service.get("--update-secrets", "")
        pairs = [item.split("=", 1) for item in listed.split(",") if item]
        return {name: secret.removesuffix(":latest").rpartition("/")[2] for name, secret in pairs}

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
        setting = _setting(kind)
        text = re.sub(rf"(?m)^{setting}=.*$", f"{setting}={name}", text)
    config.write_text(text)
    (project / "job_body.json").write_text("{}\n")
    for lock in ("uv.lock", "requirements.txt") if installed else ():
        (project / lock).touch()
    if (ROOT / "app.yaml").exists():
        shutil.copy(ROOT / "app.yaml", project)
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
