"""A Cloud Build trigger: the token is a substitution of the build.

Source: Cloud Build API v1, projects.locations.triggers.run and projects.locations.builds.list.
"""

from datetime import datetime
from typing import Final

from app.calls.answers import Json, understood
from app.calls.body import body_of, part
from app.calls.client import Client, google_credentials
from app.calls.pages import found_in_pages, since_filter
from app.dedup import Attempt, GiveUp
from app.dedup.clock import Clock
from app.targets import Result

FORM: Final = "projects/PROJECT/locations/LOCATION/triggers/TRIGGER"
PATTERN: Final = r"projects/[A-Za-z0-9][A-Za-z0-9:.-]*/locations/[a-z0-9-]+/triggers/[A-Za-z0-9_-]+"
ENDPOINT: Final = "https://cloudbuild.googleapis.com"

SUBSTITUTION: Final = "_IDEMPOTENCY_TOKEN"
"""Substitution in which the build finds the token."""


class BuildTrigger:
    """Starts builds by one trigger."""

    def __init__(self, name: str, client: Client) -> None:
        self._name = name
        self._client = client
        _, self._project, _, _, _, self._trigger = name.split("/")

    def start(self, token: str, attempt: Attempt) -> Result:
        """Run the trigger on the source of the job's request body, with the token."""
        body = body_of(attempt, "projectId", "triggerId")
        substitutions = part(part(body, "source"), "substitutions")
        if SUBSTITUTION in substitutions:
            raise GiveUp(
                f"the job's request body sets {SUBSTITUTION}, which the proxy sets; take it out"
            )
        substitutions[SUBSTITUTION] = token
        body |= {"projectId": self._project, "triggerId": self._trigger}
        answer = self._client.post(f"/v1/{self._name}:run", attempt, body)
        operation = understood(answer)
        metadata = operation.get("metadata")
        build = metadata.get("build") if isinstance(metadata, dict) else None
        return _result(build) if isinstance(build, dict) else {"name": operation.get("name")}

    def find(self, token: str, attempt: Attempt, since: datetime | None) -> Result | None:
        """Search the builds of the trigger's location, newest first."""
        parent = self._name.partition("/triggers/")[0]
        conditions = since_filter("create_time", since)
        found = found_in_pages(
            self._client,
            f"/v1/{parent}/builds",
            attempt,
            query={"projectId": self._project, "pageSize": "100"}
            | ({"filter": conditions[0]} if conditions else {}),
            items="builds",
            wanted=lambda build: _token(build) == token,
        )
        return _result(found) if found else None


def open_name(name: str, endpoint: str, clock: Clock) -> BuildTrigger:
    """Return the trigger of that full name."""
    return BuildTrigger(name, Client(endpoint or ENDPOINT, google_credentials, clock))


def _token(build: Json) -> object:
    substitutions = build.get("substitutions")
    return substitutions.get(SUBSTITUTION) if isinstance(substitutions, dict) else None


def _result(build: Json) -> Result:
    return {"name": build.get("name") or build.get("id"), "state": build.get("status")}
