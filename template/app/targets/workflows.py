"""A workflow of Workflows: the token is in the execution's argument and, cut, in a label.

Source: Workflow Executions API v1, projects.locations.workflows.executions.
"""

import json
from datetime import datetime
from typing import Final

from app.calls.answers import Json, understood
from app.calls.body import body_of, dumped, schedule_time_of
from app.calls.client import Client, google_credentials
from app.calls.pages import found_in_pages, since_filter
from app.dedup import Attempt, GiveUp
from app.dedup.clock import Clock
from app.targets import Result

FORM: Final = "projects/PROJECT/locations/LOCATION/workflows/WORKFLOW"
PATTERN: Final = (
    r"projects/[A-Za-z0-9][A-Za-z0-9:.-]*/locations/[a-z0-9-]+/workflows/[A-Za-z0-9_-]+"
)
ENDPOINT: Final = "https://workflowexecutions.googleapis.com"

ARGUMENT_LIMIT: Final = 32 * 1024
"""An argument has fewer bytes than this."""

LABEL: Final = "idempotency_token"
"""Label to search by. A value has 63 characters at most, so it holds the first 40 of the token."""

_LABEL_LENGTH: Final = 40


class Workflow:
    """Starts executions of one workflow."""

    def __init__(self, name: str, client: Client) -> None:
        self._path = f"/v1/{name}/executions"
        self._client = client

    def start(self, token: str, attempt: Attempt) -> Result:
        """Create an execution whose argument is the job's own JSON with the run added to it."""
        own = body_of(attempt, "token", "schedule_time", "job")
        run = {"token": token, "schedule_time": schedule_time_of(attempt), "job": attempt.job_name}
        argument = dumped({**own, **run})
        if len(argument) >= ARGUMENT_LIMIT:
            raise GiveUp(
                f"the workflow's argument has {len(argument)} bytes, and Workflows takes fewer than"
                f" {ARGUMENT_LIMIT}: shorten the job's request body, or pass a reference"
            )
        body = {"argument": argument.decode(), "labels": {LABEL: token[:_LABEL_LENGTH]}}
        return _result(understood(self._client.post(self._path, attempt, body)))

    def find(self, token: str, attempt: Attempt, since: datetime | None) -> Result | None:
        """Search by the label, and compare the argument's token."""
        label = f'labels.{LABEL}="{token[:_LABEL_LENGTH]}"'
        found = found_in_pages(
            self._client,
            self._path,
            attempt,
            query={
                "view": "FULL",
                "pageSize": "100",
                "filter": " AND ".join([label, *since_filter("createTime", since)]),
            },
            items="executions",
            wanted=lambda execution: _token(execution) == token,
        )
        return _result(found) if found else None


def open_name(name: str, endpoint: str, clock: Clock) -> Workflow:
    """Return the workflow of that full name."""
    return Workflow(name, Client(endpoint or ENDPOINT, google_credentials, clock))


def _token(execution: Json) -> object:
    try:
        argument = json.loads(str(execution.get("argument")))
    except (ValueError, RecursionError):
        return None
    return argument.get("token") if isinstance(argument, dict) else None


def _result(execution: Json) -> Result:
    return {"name": execution.get("name"), "state": execution.get("state")}
