"""A stand-in of Cloud Run: runs one job and lists its executions."""

from collections import Counter
from typing import ClassVar

from dev.targets import ApiAnswer, ApiRequest, Json, Now, not_found, page_of, written


class CloudRun:
    """The Cloud Run Admin API."""

    target = "projects/my-project/locations/us-central1/jobs/nightly"
    body: ClassVar[Json] = {"overrides": {"containerOverrides": [{"args": ["report"]}]}}

    def __init__(self, now: Now) -> None:
        self.starts = Counter[str]()
        self.blind = False
        self._now = now
        self._executions: list[Json] = []

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Run the job or list its executions."""
        match request.method, request.path.removeprefix(f"/v2/{self.target}"):
            case "POST", ":run":
                return self._run(request.body)
            case "GET", "/executions":
                return page_of([] if self.blind else self._executions, "executions", request)
            case _:
                return not_found(request)

    def _run(self, body: Json) -> ApiAnswer:
        [override] = body["overrides"]["containerOverrides"]
        variables = [{"name": "MODE", "value": "nightly"}, *override["env"]]
        [token] = [one["value"] for one in variables if one["name"] == "IDEMPOTENCY_TOKEN"]
        self.starts[token] += 1
        execution = {
            "name": f"{self.target}/executions/nightly-{len(self._executions):05x}",
            "createTime": written(self._now()),
            "template": {"containers": [{"image": "nightly", "env": variables}]},
        }
        # Nothing promises an order of the list.
        self._executions.append(execution)
        return ApiAnswer(200, {"name": "operations/run", "metadata": execution})


def create(now: Now) -> CloudRun:
    """Return the stand-in."""
    return CloudRun(now)
