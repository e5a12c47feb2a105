"""`AUTH=iam`: Cloud Run has verified the token; its claims are compared here (R33).

Cloud Run lets a request through only with a token of an account that has `roles/run.invoker`, and
takes the signature away. So nothing can be verified again, and this check alone would protect
nothing: it narrows "any account with the role" down to the job's own, and notices a service that
is public by mistake.

The token's lifetime is not compared again. Cloud Run has done that by Google's clock, and an
instance whose clock is wrong would refuse every good token.
"""

import logging
from collections.abc import Mapping
from typing import Final

from app.auth import Authenticator
from app.auth.token import REMOVED_SIGNATURE, check_claims, read_token
from app.dedup.delivery import Headers

_AUTHORIZATION: Final = "authorization"
_SERVERLESS_AUTHORIZATION: Final = "x-serverless-authorization"
_REMEDY: Final = (
    "Take roles/run.invoker away from allUsers and allAuthenticatedUsers, "
    "and deploy with --no-allow-unauthenticated."
)

_log = logging.getLogger(__name__)


class IamAuthenticator:
    """Accepts the job's service account, behind Cloud Run's own check of the token."""

    def __init__(self, *, audience: str, service_account: str) -> None:
        """Take the account to expect, and the audience, which may be `""`.

        Without an audience, the platform's check of it is the only one.

        Raises:
            ValueError: there is no service account.
        """
        if not service_account:
            raise ValueError(
                "AUTH=iam needs AUTH_SERVICE_ACCOUNT, the email of the job's service account"
            )
        self._audience = audience
        self._service_account = service_account

    def authenticate(self, headers: Headers) -> None:
        """Compare the claims that Cloud Run has verified; errors as `Authenticator` says."""
        # With both headers, Cloud Run verifies this one and passes the other on as it came.
        # Scheduler cannot send it, but an invoker could, with any forged token in the other.
        verified = (
            _SERVERLESS_AUTHORIZATION if headers.get(_SERVERLESS_AUTHORIZATION) else _AUTHORIZATION
        )
        if not headers.get(verified):
            _log.warning(
                "A request without a token came through, which Cloud Run should have refused: "
                "the service may be public by mistake. %s",
                _REMEDY,
            )
        token = read_token(headers, verified)
        # A warning is all: where the check is off, a caller can write the marker just as well.
        if token.signature != REMOVED_SIGNATURE:
            _log.warning(
                "A token came through with its signature, which Cloud Run removes when it has "
                "verified a token: the platform's check seems to be off. %s",
                _REMEDY,
            )
        check_claims(token.claims, audience=self._audience, service_account=self._service_account)


def create(*, audience: str, service_account: str) -> Authenticator:
    """Return the authenticator of this mode."""
    return IamAuthenticator(audience=audience, service_account=service_account)


def problems(environ: Mapping[str, str]) -> list[str]:
    """Return what keeps this mode from being safe in the environment."""
    found = []
    # A variable that is passed on without a value does not make this Cloud Run.
    if not environ.get("K_SERVICE"):
        found.append(
            "AUTH is 'iam', which trusts Cloud Run's check, but this is not Cloud Run: K_SERVICE"
            " is not set; use AUTH=off on your own machine"
        )
    if not environ.get("AUTH_SERVICE_ACCOUNT"):
        found.append(
            "AUTH_SERVICE_ACCOUNT is not set; with AUTH=iam it is the e-mail address of the service"
            " account whose token the Cloud Scheduler job sends"
        )
    return found
