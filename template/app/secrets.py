"""`python -m app.secrets COMMAND ...`: start a command with what Secret Manager holds for it.

App Engine gives a service no secrets, and whoever may see a version sees its variables. So a
variable names only where they are: `SECRETS` is a list of `TARGET=projects/PROJECT/secrets/NAME`,
separated by commas. A target that begins with `/` is a file, any other is a variable of the
command. The newest version of each secret counts, at the time of the start.
"""

import base64
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import google.auth
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import AuthorizedSession
from requests import RequestException

API: Final = "https://secretmanager.googleapis.com/v1"
"""Where Secret Manager is."""

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_TIMEOUT_SECONDS: Final = 10

ReadSecret = Callable[[str], str]
"""The newest version of a secret, by its full name."""


def fetch(listed: str, read: ReadSecret) -> dict[str, str]:
    """Write the listed secrets that are files, and return those that are variables.

    Raises:
        ValueError: `listed` is no list of secrets.
    """
    variables = dict[str, str]()
    for item in filter(None, listed.split(",")):
        target, _, name = item.partition("=")
        if not target or not name.startswith("projects/"):
            raise ValueError(
                f"SECRETS has {item!r}; write TARGET=projects/PROJECT/secrets/NAME, with commas"
                " between them"
            )
        if target.startswith("/"):
            Path(target).write_text(read(name), encoding="utf-8")
        else:
            variables[target] = read(name)
    return variables


def secret_manager(session: AuthorizedSession, api: str) -> ReadSecret:
    """Read secrets by Secret Manager's API, which is at `api`, as `session`'s account."""

    def read(name: str) -> str:
        answer = session.get(f"{api}/{name}/versions/latest:access", timeout=_TIMEOUT_SECONDS)
        answer.raise_for_status()
        return base64.b64decode(answer.json()["payload"]["data"]).decode()

    return read


def main(command: list[str]) -> None:
    """Become the command, with its secrets in the environment."""
    try:
        credentials, _ = google.auth.default(scopes=[_SCOPE])
        read = secret_manager(AuthorizedSession(credentials), API)  # type: ignore[no-untyped-call]
        variables = fetch(os.environ.get("SECRETS", ""), read)
    except (ValueError, OSError, GoogleAuthError, RequestException) as error:
        sys.exit(f"The secrets cannot be read, and the service needs them: {error}")
    os.execvpe(command[0], command, os.environ | variables)  # noqa: S606 - app.yaml's own command


if __name__ == "__main__":
    main(sys.argv[1:])
