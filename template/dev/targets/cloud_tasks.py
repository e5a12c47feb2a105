"""A stand-in of Cloud Tasks: takes each name once, until it has forgotten it."""

from collections import Counter
from typing import ClassVar

from dev.targets import ApiAnswer, ApiRequest, Json, Now, not_found, refusal, written


class CloudTasks:
    """The Cloud Tasks API."""

    target = "projects/my-project/locations/us-central1/queues/nightly"
    body: ClassVar[Json] = {"task": {"httpRequest": {"url": "https://work.example.com/"}}}

    def __init__(self, now: Now) -> None:
        self.starts = Counter[str]()
        self.known = set[str]()
        self._now = now

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Create a task."""
        if (request.method, request.path) != ("POST", f"/v2/{self.target}/tasks"):
            return not_found(request)
        return self._create(request.body["task"])

    def _create(self, task: Json) -> ApiAnswer:
        name = task["name"]
        if name in self.known:
            return refusal(409, "ALREADY_EXISTS", "Requested entity already exists")
        self.known.add(name)
        self.starts[name.rpartition("/")[2]] += 1
        return ApiAnswer(200, {**task, "createTime": written(self._now())})


def create(now: Now) -> CloudTasks:
    """Return the stand-in."""
    return CloudTasks(now)
