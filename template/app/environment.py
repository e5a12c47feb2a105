"""Reading the environment: what is wrong with it is collected and reported as a whole."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from app import defaults
from app.dedup.delivery import JobScope, shown
from app.dedup.stores import open_store, scheme_of, store_forms

_SERVICE: Final = re.compile(r"[a-z]([-a-z0-9]{0,47}[a-z0-9])?")
_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class BadEnvironment(Exception):
    """The environment does not make sense. `str()` lists every error, one per line."""


class Reader:
    """Reads variables and collects what is wrong with them, by name.

    The methods without arguments read what both the service and its commands need.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.errors: dict[str, str] = {}
        self._notes: list[str] = []

    def service(self) -> str:
        """Return `SERVICE`, the name in every key (R08)."""
        return self.text("SERVICE", defaults.SERVICE, _check_service)

    def run_store_url(self) -> str:
        """Return `RUN_STORE_URL`, where the records are."""
        return self.text("RUN_STORE_URL", "", _check_store)

    def job_scope(self) -> JobScope:
        """Return `JOB_SCOPE`, where project and location come from (R05)."""
        return JobScope(self.choice("JOB_SCOPE", defaults.JOB_SCOPE, tuple(JobScope)))

    def separate_forced_runs(self) -> bool:
        """Tell whether forced runs have keys of their own (`FORCED_RUNS`, R06)."""
        separate = self.choice("FORCED_RUNS", defaults.FORCED_RUNS, ("separate", "shared"))
        return separate == "separate"

    def attempt_deadline(self) -> float:
        """Return `ATTEMPT_DEADLINE_SECONDS` (R32)."""
        return self.seconds(
            "ATTEMPT_DEADLINE_SECONDS", defaults.ATTEMPT_DEADLINE_SECONDS, 15, 86_415
        )

    def request_timeout(self, attempt_deadline: float) -> float:
        """Return `REQUEST_TIMEOUT_SECONDS`, by default the attempt deadline (R32)."""
        return self.seconds("REQUEST_TIMEOUT_SECONDS", attempt_deadline, 1, 86_415)

    def lease(self) -> float:
        """Return `LEASE_SECONDS`, after which a silent attempt is taken for dead (R18)."""
        return self.seconds("LEASE_SECONDS", defaults.LEASE_SECONDS, 5, 3600)

    def retention(self) -> float:
        """Return `RETENTION_SECONDS`, for how long records are kept (R29)."""
        return self.seconds("RETENTION_SECONDS", defaults.RETENTION_SECONDS, 1, 31_536_000)

    def log_level(self) -> str:
        """Return `LOG_LEVEL`, the lowest level that is logged."""
        return self.choice("LOG_LEVEL", "INFO", _LEVELS)

    def gcp_project(self) -> str:
        """Return `GOOGLE_CLOUD_PROJECT`."""
        return self.text("GOOGLE_CLOUD_PROJECT", defaults.GCP_PROJECT)

    def text(
        self, name: str, default: str, check: Callable[[str], str | None] | None = None
    ) -> str:
        """Return a text that `check` has nothing against."""
        value = self._value(name, default)
        if name not in self.errors and check and (error := check(value)):
            self.errors[name] = f"{name}: {error}"
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...], hint: str = "") -> str:
        """Return one of `choices`; `hint` says how to get another."""
        value = self._value(name, default)
        if value in choices:
            return value
        self.errors[name] = f"{name} is {shown(value)}; it can be {', '.join(choices)}{hint}"
        return choices[0]

    def seconds(self, name: str, default: float, least: float, most: float) -> float:
        """Return a whole number of seconds from `least` to `most`."""
        value = self._value(name, f"{default:.0f}")
        number = float(value) if re.fullmatch(r"\d{1,9}", value, re.ASCII) else -1.0
        if least <= number <= most:
            return number
        self.errors[name] = (
            f"{name} is {shown(value)}; it must be a whole number of seconds from"
            f" {least:.0f} to {most:.0f}"
        )
        return default

    def _value(self, name: str, default: str) -> str:
        value = self.environ.get(name, default)
        try:
            value.encode()
        except UnicodeEncodeError:
            self.errors[name] = f"{name} is not UTF-8"
            return default
        return value

    def note(self, *errors: str) -> None:
        """Add what is wrong with no single variable."""
        self._notes += errors

    def close(self) -> None:
        """End the reading.

        Raises:
            BadEnvironment: something was wrong.
        """
        if errors := [*self.errors.values(), *self._notes]:
            listed = "\n".join(f"- {error}" for error in errors)
            raise BadEnvironment(f"The environment is not usable:\n{listed}")


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
        # Of a URL that is wrong, anything may be the password.
        scheme = scheme_of(value)
        return f"{scheme}://...: {error}" if scheme else str(error)
    return None
