"""A stand-in of Cloud Build: runs one trigger and lists the builds of its location."""

import re
from collections import Counter
from typing import ClassVar

from dev.targets import (
    ApiAnswer,
    ApiRequest,
    Json,
    Now,
    not_found,
    page_of,
    refusal,
    written,
)

_LOCATION = "projects/my-project/locations/us-central1"


class CloudBuild:
    """The Cloud Build API."""

    target = f"{_LOCATION}/triggers/nightly"
    body: ClassVar[Json] = {"source": {"branchName": "main", "substitutions": {"_KIND": "report"}}}

    def __init__(self, now: Now) -> None:
        self.starts = Counter[str]()
        self.blind = False
        self._now = now
        self._builds: list[Json] = []

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Run the trigger or list builds."""
        match request.method, request.path:
            case "POST", path if path == f"/v1/{self.target}:run":
                return self._run(request.body)
            case "GET", path if path == f"/v1/{_LOCATION}/builds":
                return self._list(request)
            case _:
                return not_found(request)

    def _run(self, body: Json) -> ApiAnswer:
        substitutions = body["source"]["substitutions"]
        self.starts[substitutions["_IDEMPOTENCY_TOKEN"]] += 1
        build = {
            "name": f"{_LOCATION}/builds/{len(self._builds):08x}",
            "status": "QUEUED",
            "createTime": written(self._now()),
            "substitutions": {"BRANCH_NAME": "main", **substitutions},
        }
        self._builds.insert(0, build)
        return ApiAnswer(200, {"name": "operations/build", "metadata": {"build": build}})

    def _list(self, request: ApiRequest) -> ApiAnswer:
        found = [] if self.blind else list(self._builds)
        if condition := request.query.get("filter"):
            match = re.fullmatch(r'create_time>="([^"]*)"', condition)
            if match is None:
                return refusal(400, "INVALID_ARGUMENT", f"the filter is {condition!r}")
            found = [one for one in found if one["createTime"] >= match[1]]
        return page_of(found, "builds", request)


def create(now: Now) -> CloudBuild:
    """Return the stand-in."""
    return CloudBuild(now)
