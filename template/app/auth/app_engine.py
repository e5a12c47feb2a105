"""`AUTH=app-engine`: App Engine lets only Cloud Scheduler and administrators through (R33).

`login: admin` in app.yaml does that in front of the application, on every path but `/health`. A job
with an App Engine target sends no token, so there is nothing to verify in a request: the headers
that only App Engine can set are not documented for Cloud Scheduler's jobs, and those that are
documented prove nothing (R07). What this module checks is that App Engine is there at all; that
app.yaml asks for its check, a test of the project does.
"""

from collections.abc import Mapping

from app.auth import Authenticator
from app.dedup.delivery import Headers


class AppEngineAuthenticator:
    """Accepts every request, behind App Engine's own check of the caller."""

    def authenticate(self, headers: Headers) -> None:
        """Return: who is not allowed has not come this far."""


def create(*, audience: str, service_account: str) -> Authenticator:
    """Return the authenticator of this mode, which has no use for either argument."""
    return AppEngineAuthenticator()


def problems(environ: Mapping[str, str]) -> list[str]:
    """Return what keeps this mode from being safe in the environment."""
    # A variable that is passed on without a value does not make this App Engine.
    if environ.get("GAE_ENV"):
        return []
    return [
        "AUTH is 'app-engine', which trusts the check of App Engine, but this is not App Engine:"
        " GAE_ENV is not set; use AUTH=off on your own machine"
    ]
