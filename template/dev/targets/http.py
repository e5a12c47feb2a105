"""A stand-in of an HTTP endpoint that does the work of each `Idempotency-Key` once."""

from collections import Counter
from typing import ClassVar

from dev.targets import ApiAnswer, ApiRequest, Json, Now, not_found


class Endpoint:
    """The endpoint; it takes every request for a new one unless it `heeds_keys`."""

    target = "https://work.example.com/nightly?kind=report"
    body: ClassVar[Json] = {"kind": "report"}

    def __init__(self, now: Now) -> None:
        self.starts = Counter[str]()
        self.heeds_keys = True

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Do the work, if it is not done."""
        if (request.method, request.path) != ("POST", "/nightly"):
            return not_found(request)
        key = request.headers["idempotency-key"]
        if not self.heeds_keys or not self.starts[key]:
            self.starts[key] += 1
        return ApiAnswer(200, {"done": True})


def create(now: Now) -> Endpoint:
    """Return the stand-in."""
    return Endpoint(now)
