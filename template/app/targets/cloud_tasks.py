"""A task of Cloud Tasks: the token is the task's id, so that the API takes each once.

The API knows an id while the task is there, and for up to 24 hours afterwards (9 days in a queue
made by queue.yaml). Source: Cloud Tasks API v2, projects.locations.queues.tasks.create.
"""

from typing import Final

from app.calls.answers import already_exists, understood
from app.calls.body import Body, body_of, part
from app.calls.client import Client, google_credentials
from app.dedup import Attempt, GiveUp
from app.dedup.clock import Clock
from app.targets import Result

FORM: Final = "projects/PROJECT/locations/LOCATION/queues/QUEUE"
PATTERN: Final = r"projects/[A-Za-z0-9][A-Za-z0-9:.-]*/locations/[a-z0-9-]+/queues/[A-Za-z0-9-]+"
ENDPOINT: Final = "https://cloudtasks.googleapis.com"

_REQUESTS: Final = ("httpRequest", "appEngineHttpRequest")


class TaskQueue:
    """Adds tasks to one queue."""

    def __init__(self, name: str, client: Client) -> None:
        self._name = name
        self._client = client

    def start(self, token: str, attempt: Attempt) -> Result:
        """Create the task of the job's request body; its request carries the token as well."""
        body = body_of(attempt)
        task = part(body, "task")
        if "name" in task:
            raise GiveUp("the job's request body names the task, which the proxy does; take it out")
        name = f"{self._name}/tasks/{token}"
        task["name"] = name
        _add_token(task, token)
        answer = self._client.post(f"/v2/{self._name}/tasks", attempt, body)
        # Nobody else's task has this name, and one that is done cannot be read any more.
        if not already_exists(answer):
            understood(answer)
        return {"name": name}


def open_name(name: str, endpoint: str, clock: Clock) -> TaskQueue:
    """Return the queue of that full name."""
    return TaskQueue(name, Client(endpoint or ENDPOINT, google_credentials, clock))


def _add_token(task: Body, token: str) -> None:
    """Cloud Tasks, too, delivers at least once: what it calls can tell by this header."""
    for kind in _REQUESTS:
        if kind in task:
            part(part(task, kind), "headers").setdefault("Idempotency-Key", token)
