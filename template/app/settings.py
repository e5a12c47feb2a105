"""The environment, read once into frozen settings; all errors are reported together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app import auth, defaults
from app.dedup.delivery import JobScope
from app.dedup.stores import scheme_of
from app.environment import Reader
from app.retry_budget import retry_window

_OTHER_MODES: Final = "; another mode is added by the template's question `auth` (copier update)"


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
        auth_service_account: Expected `email`, or several with commas (`AUTH_SERVICE_ACCOUNT`).
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
        read = Reader(environ)
        settings = cls.of(read)
        read.close()
        return settings

    @classmethod
    def of(cls, read: Reader) -> "Settings":
        """Return the settings that `read` finds; what is wrong with them is left in it."""
        attempt_deadline = read.attempt_deadline()
        settings = cls(
            service=read.service(),
            run_store_url=read.run_store_url(),
            job_scope=read.job_scope(),
            separate_forced_runs=read.separate_forced_runs(),
            lease=read.lease(),
            retention=read.retention(),
            request_timeout=read.request_timeout(attempt_deadline),
            auth=read.choice("AUTH", defaults.AUTH, auth.SUPPORTED, _OTHER_MODES),
            auth_audience=read.text("AUTH_AUDIENCE", ""),
            auth_service_account=read.text("AUTH_SERVICE_ACCOUNT", ""),
            log_level=read.log_level(),
            gcp_project=read.gcp_project(),
        )
        _check_across(settings, attempt_deadline, read)
        return settings


def _check_across(settings: Settings, attempt_deadline: float, read: Reader) -> None:
    """Note what is wrong with settings that are right by themselves."""
    if "AUTH" not in read.errors:
        read.note(*auth.problems(settings.auth, read.environ))
    platforms = [name for name in ("K_SERVICE", "GAE_ENV") if name in read.environ]
    known = "RUN_STORE_URL" not in read.errors
    if known and scheme_of(settings.run_store_url) == "sqlite" and platforms:
        read.note(
            f"RUN_STORE_URL is SQLite, but {platforms[0]} is set: a platform's instances do not"
            " share a disk, so each would run every run"
        )
    window = retry_window(
        attempt_deadline=attempt_deadline,
        request_timeout=settings.request_timeout,
        lease=settings.lease,
    )
    if settings.retention < window and "RETENTION_SECONDS" not in read.errors:
        read.note(
            f"RETENTION_SECONDS is {settings.retention:.0f}, but with this deadline and lease the"
            f" retries of a run can last {window:.0f} s; make it longer than that"
        )
