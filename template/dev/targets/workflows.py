"""A stand-in of Workflows: creates and lists the executions of one workflow."""

import json
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


class Workflows:
    """The Workflow Executions API."""

    target = "projects/my-project/locations/us-central1/workflows/nightly"
    body: ClassVar[Json] = {"kind": "report", "customers": ["Ünïcode & Co."]}

    def __init__(self, now: Now) -> None:
        self.starts = Counter[str]()
        self.blind = False
        self._now = now
        self._executions: list[Json] = []

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Create or list executions."""
        if request.path != f"/v1/{self.target}/executions":
            return not_found(request)
        return self._create(request.body) if request.method == "POST" else self._list(request)

    def _create(self, body: Json) -> ApiAnswer:
        argument = json.loads(body["argument"])
        self.starts[argument["token"]] += 1
        execution = {
            "name": f"{self.target}/executions/{len(self._executions):08x}",
            "state": "ACTIVE",
            "argument": body["argument"],
            "labels": body.get("labels", {}),
            "createTime": written(self._now()),
        }
        self._executions.insert(0, execution)
        return ApiAnswer(200, execution)

    def _list(self, request: ApiRequest) -> ApiAnswer:
        found = [] if self.blind else list(self._executions)
        for condition in filter(None, request.query.get("filter", "").split(" AND ")):
            if match := re.fullmatch(r'labels\.(\w+)="([^"]*)"', condition):
                found = [one for one in found if one["labels"].get(match[1]) == match[2]]
            elif match := re.fullmatch(r'createTime>="([^"]*)"', condition):
                found = [one for one in found if one["createTime"] >= match[1]]
            else:
                return refusal(400, "INVALID_ARGUMENT", f"the filter has {condition!r} in it")
        if request.query.get("view") != "FULL":
            found = [
                {name: value for name, value in one.items() if name != "argument"} for one in found
            ]
        return page_of(found, "executions", request)


def create(now: Now) -> Workflows:
    """Return the stand-in."""
    return Workflows(now)
