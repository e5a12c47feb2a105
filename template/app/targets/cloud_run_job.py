"""A Cloud Run job: the token is in an environment variable of the execution's containers.

Source: Cloud Run Admin API v2, projects.locations.jobs.run and .executions.
"""

from datetime import datetime
from typing import Final

from app.calls.answers import Json, understood
from app.calls.body import Body, body_of, part
from app.calls.client import Client, google_credentials
from app.calls.pages import found_in_pages
from app.dedup import Attempt, GiveUp
from app.dedup.clock import Clock
from app.targets import Result

FORM: Final = "projects/PROJECT/locations/LOCATION/jobs/JOB"
PATTERN: Final = r"projects/[A-Za-z0-9][A-Za-z0-9:.-]*/locations/[a-z0-9-]+/jobs/[a-z0-9-]+"
ENDPOINT: Final = "https://run.googleapis.com"

VARIABLE: Final = "IDEMPOTENCY_TOKEN"
"""Environment variable in which a container finds the token."""


class CloudRunJob:
    """Starts executions of one job."""

    def __init__(self, name: str, client: Client) -> None:
        self._path = f"/v2/{name}"
        self._client = client

    def start(self, token: str, attempt: Attempt) -> Result:
        """Run the job with the overrides of the job's request body and the token."""
        body = body_of(attempt)
        for container in _containers(body):
            _add_token(container, token)
        answer = self._client.post(f"{self._path}:run", attempt, body)
        operation = understood(answer)
        execution = operation.get("metadata")
        named = execution if isinstance(execution, dict) and "name" in execution else operation
        return {"name": named.get("name")}

    def find(self, token: str, attempt: Attempt, since: datetime | None) -> Result | None:
        """Search all executions of the job: the API's list has neither a filter nor an order."""
        found = found_in_pages(
            self._client,
            f"{self._path}/executions",
            attempt,
            query={"pageSize": "100", "showDeleted": "true"},
            items="executions",
            wanted=lambda execution: token in _tokens(execution),
        )
        return {"name": found.get("name")} if found else None


def open_name(name: str, endpoint: str, clock: Clock) -> CloudRunJob:
    """Return the job of that full name."""
    return CloudRunJob(name, Client(endpoint or ENDPOINT, google_credentials, clock))


def _containers(body: Body) -> list[Body]:
    """Return the overrides of containers: those of the request, or one for the only container."""
    overrides = part(body, "overrides").setdefault("containerOverrides", [{}])
    if not isinstance(overrides, list) or not all(isinstance(one, dict) for one in overrides):
        raise GiveUp("`containerOverrides` in the job's request body is no list of objects")
    if not overrides:
        overrides.append({})
    return overrides


def _add_token(container: Body, token: str) -> None:
    variables = container.setdefault("env", [])
    if not isinstance(variables, list):
        raise GiveUp("`env` in the job's request body is no list; correct the job")
    if any(isinstance(one, dict) and one.get("name") == VARIABLE for one in variables):
        raise GiveUp(f"the job's request body sets {VARIABLE}, which the proxy sets; take it out")
    variables.append({"name": VARIABLE, "value": token})


def _tokens(execution: Json) -> set[str]:
    template = execution.get("template")
    containers = template.get("containers") if isinstance(template, dict) else None
    return {
        variable["value"]
        for container in containers or []
        for variable in container.get("env") or []
        if variable.get("name") == VARIABLE and isinstance(variable.get("value"), str)
    }
