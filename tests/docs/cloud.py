"""A Google Cloud in which everything is there that a document speaks of."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from tests.deployment import apis
from tests.deployment.apis import Answer, Request
from tests.deployment.expected import app_bucket, app_host
from tests.deployment.recorder import Recorder

_MORE: Final = {"format": "DOCKER"}
"""What gcloud asks of a repository of images."""

_BINDING: Final = {
    "role": "roles/run.invoker",
    "members": ["serviceAccount:handler@my-project.iam.gserviceaccount.com"],
}


_TOKENS: Final = {
    ":generateAccessToken": {"accessToken": "made-up", "expireTime": "2099-01-01T00:00:00Z"},
    # Three parts, of which the second is {"exp": 4070908800}.
    ":generateIdToken": {"token": "e30.eyJleHAiOjQwNzA5MDg4MDB9.e30"},
}

_SERVICE: Final = Request(
    method="POST",
    host="us-central1-run.googleapis.com",
    path="/apis/serving.knative.dev/v1/namespaces/my-project/services",
    query={},
    body={
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "nightly-report", "namespace": "my-project", "annotations": {}},
        "spec": {
            "template": {"metadata": {}, "spec": {"containers": [{"image": "image"}]}},
            "traffic": [{"latestRevision": True, "percent": 100}],
        },
    },
)
"""What deploys the service of the default answers."""


@dataclass
class Cloud(Recorder):
    """Answers what tests/deployment answers, and makes up what was not made before.

    What is made, and with which settings, is proved there. Here the real gcloud has to understand
    the command and to get an answer that it can show.
    """

    gone: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Have what cannot be made up on the way, as lists show it."""
        app = "appengine/apps/my-project"
        version = "apps/my-project/services/nightly-report/versions/VERSION"
        split = {"allocations": {"VERSION": 1}}
        self.resources |= {
            f"{app}/services/default": {"id": "default"},
            f"{app}/services/nightly-report": {"id": "nightly-report", "split": split},
            f"appengine/{version}": {
                "name": version,
                "id": "VERSION",
                "createTime": "2026-10-16T12:00:00Z",
            },
        }
        apis.answer(_SERVICE, self.resources)
        revision = "run/namespaces/my-project/revisions/nightly-report-00001-abc"
        self.resources[revision] = {
            "metadata": {"name": "nightly-report-00001-abc"},
            "spec": {"containers": [{"image": "image"}]},
            "status": {"observedGeneration": 1},
        }

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        with self.lock:
            self.requests.append(request)
            if request.method == "DELETE":
                if "/namespaces/" in request.path:
                    # Only this is waited for until it is gone; pages name others afterwards.
                    self.gone.add(request.path)
                return 200, _operation(request)
            for ending, tokens in _TOKENS.items():
                if request.path.endswith(ending):
                    return 200, tokens
            if request.path in self.gone:
                return apis.error(404, "NOT_FOUND", f"{request.path} was deleted.")
            status, body = _answer(request, self.resources)
            if status in (404, 501):
                return 200, _made_up(request)
            if request.path.endswith(":getIamPolicy") and not body.get("bindings"):
                return 200, {**body, "bindings": [_BINDING]}
            return status, body


def _answer(request: Request, resources: dict[str, Any]) -> Answer:
    try:
        return apis.answer(request, resources)
    except (KeyError, IndexError, AttributeError):
        return apis.error(501, "UNIMPLEMENTED", f"{request.method} {request.path}")


def _name(request: Request) -> str:
    return re.sub(r"^/(storage/|apis/[a-z.]+/)?v\d[a-z0-9]*/", "", request.path)


def _made_up(request: Request) -> Any:
    """What is at a path, however it got there."""
    if app := re.fullmatch("apps/([^/]+)", _name(request)):
        return {
            "id": app[1],
            "name": app[0],
            "locationId": "us-central",
            "servingStatus": "SERVING",
            "defaultHostname": app_host(app[1]),
            "codeBucket": app_bucket(app[1]),
        }
    return {"name": _name(request), "done": True, "state": "ACTIVE", "response": {}, **_MORE}


def _operation(request: Request) -> Any:
    """An operation that is done, in the place of what it is about."""
    place = re.match(r"projects/[^/]+/(locations|instances)/[^/]+", _name(request))
    name = f"{place[0]}/operations/op1" if place else "operations/op1"
    return {"name": name, "done": True, "response": {}}
