"""Settings for tests, and what an environment is refused for."""

from dataclasses import replace
from typing import Any

from app.dedup.delivery import JobScope
from app.environment import BadEnvironment
from app.settings import Settings

ACCOUNT = "job@my-project.iam.gserviceaccount.com"
AUDIENCE = "https://service.example"

_SETTINGS = Settings(
    service="nightly-report",
    run_store_url="sqlite:///runs.db",
    job_scope=JobScope.NONE,
    separate_forced_runs=True,
    lease=60.0,
    retention=172_800.0,
    request_timeout=180.0,
    auth="off",
    auth_audience="",
    auth_service_account="",
    log_level="DEBUG",
    gcp_project="my-project",
)


def settings(**changes: Any) -> Settings:
    """Return settings that no answer of the template has a part in."""
    return replace(_SETTINGS, **changes)


def errors(environ: dict[str, str]) -> list[str]:
    """Return what a start with `environ` complains about, one item per error."""
    try:
        Settings.from_environ(environ)
    except BadEnvironment as error:
        headline, *found = str(error).split("\n- ")
        assert headline == "The environment is not usable:"
        return found
    return []
