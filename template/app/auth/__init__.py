"""Who calls: one authenticator for each value of `AUTH` (R33).

The Scheduler headers prove nothing about the caller (R07); a token does, or the platform's own
check. Each mode is a module of this package, and a project has the one that it was made with. `off`
is for one's own machine.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Final, Protocol

from app.dedup.delivery import Headers

OFF: Final = "off"

CREDENTIALS: Final = ("authorization", "x-serverless-authorization")
"""The headers, in lower case, whose values are shown to nobody, the job included (R39)."""

SUPPORTED: Final = (
    *sorted(
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(__path__)
        if module.name != "token"
    ),
    OFF,
)
"""The modes that this project has: those whose module is there, and `off`."""


class _AuthError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        """For the answer and the log: it never contains the token."""


class Unauthenticated(_AuthError):
    """There is no token, or one that proves nothing: 401."""


class Forbidden(_AuthError):
    """The token is good and belongs to another account: 403."""


class CannotVerify(_AuthError):
    """Nothing can be said about the token just now: 500 `unavailable`, so that it is sent again."""


class Authenticator(Protocol):
    """Decides who may start a run. One instance serves all threads."""

    def authenticate(self, headers: Headers) -> None:
        """Return if the request comes from the job's service account.

        Raises:
            Unauthenticated: no token, or a bad one.
            Forbidden: a good token of another account.
            CannotVerify: the token cannot be checked at the moment.
        """


def open_authenticator(mode: str, *, audience: str, service_account: str) -> Authenticator:
    """Return the authenticator of a mode; only that mode's module is imported.

    Args:
        mode: one of `SUPPORTED`.
        audience: what the token must be meant for, the service's root URL; `""` where none is set.
        service_account: the email of the account that may start runs; several are separated by
            commas.

    Raises:
        ValueError: this project does not have the mode, or the mode needs a value that is empty.
    """
    if mode not in SUPPORTED:
        raise ValueError(
            f"AUTH is {mode!r}, and this project supports {' and '.join(SUPPORTED)}. "
            "Run `copier update` and answer the question `auth` to get another mode."
        )
    if mode == OFF:
        return _Anyone()
    authenticator: Authenticator = _module(mode).create(
        audience=audience, service_account=service_account
    )
    return authenticator


def problems(mode: str, environ: Mapping[str, str]) -> list[str]:
    """Return what makes `mode` unusable or unsafe in this environment (R33)."""
    if mode != OFF:
        found: list[str] = _module(mode).problems(environ)
        return found
    return [
        f"AUTH is 'off', but {name} is set: on a platform everybody could start runs;"
        f" use AUTH={SUPPORTED[0]}"
        for name in ("K_SERVICE", "GAE_ENV")
        if name in environ
    ][:1]


def _module(mode: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{mode.replace('-', '_')}")


class _Anyone:
    def authenticate(self, headers: Headers) -> None:
        """Accept every request."""
