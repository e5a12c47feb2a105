"""The environment, read once into frozen settings; all errors are reported together."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from app import auth, defaults
from app.dedup.delivery import JobScope, shown
from app.dedup.runner import SETTLE
from app.dedup.stores import open_store, store_forms

_SERVICE: Final = re.compile(r"[a-z]([-a-z0-9]{0,47}[a-z0-9])?")
_OTHER_MODES: Final = "; another mode is added by the template's question `auth` (copier update)"
_PASSWORD: Final = re.compile(r"(?s)(?<=//).*(?=@)|(?<=password=)[^&]*")
_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class BadEnvironment(Exception):
    """The environment does not make sense. `str()` lists every error, one per line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the service runs with.

    Attributes:
        service: Name in every key (`SERVICE`, R08).
        run_store_url: Where the records are (`RUN_STORE_URL`).
        job_scope: Where project and location come from (`JOB_SCOPE`, R05).
        separate_forced_runs: Forced runs have keys of their own (`FORCED_RUNS`, R06).
        lease: Seconds (`LEASE_SECONDS`, R18).
        retention: Seconds (`RETENTION_SECONDS`, R29).
        request_timeout: Seconds (`REQUEST_TIMEOUT_SECONDS`; default: the attempt deadline, R32).
        auth: Who checks the caller (`AUTH`, R33).
        auth_audience: Expected `aud` (`AUTH_AUDIENCE`).
        auth_service_account: Expected `email` (`AUTH_SERVICE_ACCOUNT`).
        log_level: Lowest level that is logged (`LOG_LEVEL`).
        gcp_project: Project of the traces in log lines (`GOOGLE_CLOUD_PROJECT`).
    """

    service: str
    run_store_url: str
    job_scope: JobScope
    separate_forced_runs: bool
    lease: float
    retention: float
    request_timeout: float
    auth: str
    auth_audience: str
    auth_service_account: str
    log_level: str
    gcp_project: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the settings from `environ`.

        Raises:
            BadEnvironment: with every error that was found.
        """
        read = _Reader(environ)
        attempt_deadline = read.seconds(
            "ATTEMPT_DEADLINE_SECONDS", defaults.ATTEMPT_DEADLINE_SECONDS, 15, 86_415
        )
        settings = cls(
            service=read.text("SERVICE", defaults.SERVICE, _check_service),
            run_store_url=read.text("RUN_STORE_URL", "", _check_store),
            job_scope=JobScope(read.choice("JOB_SCOPE", defaults.JOB_SCOPE, tuple(JobScope))),
            separate_forced_runs=read.choice(
                "FORCED_RUNS", defaults.FORCED_RUNS, ("separate", "shared")
            )
            == "separate",
            lease=read.seconds("LEASE_SECONDS", defaults.LEASE_SECONDS, 5, 3600),
            retention=read.seconds("RETENTION_SECONDS", defaults.RETENTION_SECONDS, 1, 31_536_000),
            request_timeout=read.seconds("REQUEST_TIMEOUT_SECONDS", attempt_deadline, 1, 86_415),
            auth=read.choice("AUTH", defaults.AUTH, auth.SUPPORTED, _OTHER_MODES),
            auth_audience=read.text("AUTH_AUDIENCE", ""),
            auth_service_account=read.text("AUTH_SERVICE_ACCOUNT", ""),
            log_level=read.choice("LOG_LEVEL", "INFO", _LEVELS),
            gcp_project=read.text("GOOGLE_CLOUD_PROJECT", defaults.GCP_PROJECT),
        )
        errors = [*read.errors.values(), *_across(settings, attempt_deadline, read, environ)]
        if errors:
            listed = "\n".join(f"- {error}" for error in errors)
            raise BadEnvironment(f"The environment is not usable:\n{listed}")
        return settings


class _Reader:
    """Reads variables and collects what is wrong with them, by name."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.errors: dict[str, str] = {}

    def text(
        self, name: str, default: str, check: Callable[[str], str | None] | None = None
    ) -> str:
        value = self._environ.get(name, default)
        if check and (error := check(value)):
            self.errors[name] = f"{name}: {error}"
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...], hint: str = "") -> str:
        value = self._environ.get(name, default)
        if value in choices:
            return value
        self.errors[name] = f"{name} is {shown(value)}; it can be {', '.join(choices)}{hint}"
        return choices[0]

    def seconds(self, name: str, default: float, least: float, most: float) -> float:
        value = self._environ.get(name)
        if value is None:
            return default
        number = float(value) if re.fullmatch(r"\d{1,9}", value, re.ASCII) else -1.0
        if least <= number <= most:
            return number
        self.errors[name] = (
            f"{name} is {shown(value)}; it must be a whole number of seconds from"
            f" {least:.0f} to {most:.0f}"
        )
        return default


def _check_service(value: str) -> str | None:
    if _SERVICE.fullmatch(value):
        return None
    return (
        f"{shown(value)} is no service name: up to 49 lower-case letters, digits and hyphens,"
        " beginning with a letter and not ending with a hyphen"
    )


def _check_store(value: str) -> str | None:
    if not value:
        return f"is not set; it says where the records are: {', '.join(store_forms())}"
    try:
        open_store(value)
    except ValueError as error:
        return f"{shown(_PASSWORD.sub('***', value))}: {error}"
    return None


def _across(
    settings: Settings, attempt_deadline: float, read: _Reader, environ: Mapping[str, str]
) -> list[str]:
    """Return what is wrong with settings that are right by themselves."""
    errors = []
    if "AUTH" not in read.errors:
        errors += auth.problems(settings.auth, environ)
    platforms = [name for name in ("K_SERVICE", "GAE_ENV") if name in environ]
    known = "RUN_STORE_URL" not in read.errors
    if known and urlsplit(settings.run_store_url).scheme == "sqlite" and platforms:
        errors.append(
            f"RUN_STORE_URL is SQLite, but {platforms[0]} is set: a platform's instances do not"
            " share a disk, so each would run every run"
        )
    window = 6 * attempt_deadline + 5 * (settings.lease + SETTLE)
    if settings.retention < window and "RETENTION_SECONDS" not in read.errors:
        errors.append(
            f"RETENTION_SECONDS is {settings.retention:.0f}, but with this deadline and lease the"
            f" retries of a run can last {window:.0f} s; make it longer than that"
        )
    return errors
