"""A stand-in of BigQuery: takes each job id once, and tells about the jobs."""

from collections import Counter
from typing import ClassVar

from dev.targets import ApiAnswer, ApiRequest, Json, Now, not_found

_PATH = "/bigquery/v2/projects/my-project/jobs"


class BigQuery:
    """The BigQuery API."""

    target = "projects/my-project/locations/EU"
    body: ClassVar[Json] = {
        "configuration": {"query": {"query": "SELECT 1", "useLegacySql": False}}
    }

    def __init__(self, now: Now) -> None:
        self.starts = Counter[str]()
        self._jobs: dict[str, Json] = {}

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Insert a job, or return one."""
        match request.method, request.path.removeprefix(_PATH):
            case "POST", "":
                return self._insert(request.body)
            case "GET", path if path.removeprefix("/") in self._jobs:
                return ApiAnswer(200, self._jobs[path.removeprefix("/")])
            case _:
                return not_found(request)

    def _insert(self, body: Json) -> ApiAnswer:
        token = body["jobReference"]["jobId"]
        if token in self._jobs:
            error = {"code": 409, "message": f"Already Exists: Job my-project:EU.{token}"}
            reason = {"reason": "duplicate", "message": error["message"]}
            return ApiAnswer(409, {"error": {**error, "errors": [reason]}})
        self.starts[token] += 1
        self._jobs[token] = {**body, "status": {"state": "RUNNING"}}
        return ApiAnswer(200, self._jobs[token])


def create(now: Now) -> BigQuery:
    """Return the stand-in."""
    return BigQuery(now)
