"""A BigQuery job: the token is the job's id, so that the API takes each once, for good.

Source: BigQuery API v2, jobs.insert and jobs.get.
"""

from typing import Final

from app.calls.answers import Json, already_exists, understood
from app.calls.body import body_of
from app.calls.client import Client, google_credentials
from app.dedup import Attempt, GiveUp, OutcomeUnknown
from app.dedup.clock import Clock
from app.targets import Result

FORM: Final = "projects/PROJECT/locations/LOCATION"
PATTERN: Final = r"projects/[A-Za-z0-9][A-Za-z0-9:.-]*/locations/[A-Za-z0-9-]+"
ENDPOINT: Final = "https://bigquery.googleapis.com"


class BigQuery:
    """Inserts jobs in one project and location."""

    def __init__(self, name: str, client: Client) -> None:
        self._name = name
        _, self._project, _, self._location = name.split("/")
        self._path = f"/bigquery/v2/projects/{self._project}/jobs"
        self._client = client

    def start(self, token: str, attempt: Attempt) -> Result:
        """Insert the job of the job's request body under the token; one that is there counts."""
        reference = {"projectId": self._project, "jobId": token, "location": self._location}
        body = {**body_of(attempt, "jobReference"), "jobReference": reference}
        answer = self._client.post(self._path, attempt, body)
        if already_exists(answer):
            answer = self._client.call(
                "GET", f"{self._path}/{token}", attempt, query={"location": self._location}
            )
            if answer.status == 404:
                raise OutcomeUnknown("BigQuery knows the job's id, but not the job")
        return self._result(understood(answer), token)

    def _result(self, job: Json, token: str) -> Result:
        reference = job.get("jobReference")
        if not isinstance(reference, dict) or reference.get("jobId") != token:
            raise OutcomeUnknown("BigQuery answered with another job than the one asked for")
        status = job.get("status")
        found = status if isinstance(status, dict) else {}
        error = found.get("errorResult")
        if isinstance(error, dict):
            # The id is used up, so that no retry could start another job for this run.
            raise GiveUp(f"the BigQuery job failed: {error.get('message')}")
        return {"name": f"{self._name}/jobs/{token}", "state": found.get("state")}


def open_name(name: str, endpoint: str, clock: Clock) -> BigQuery:
    """Return the jobs of that project and location."""
    return BigQuery(name, Client(endpoint or ENDPOINT, google_credentials, clock))
