"""A Google Cloud in which everything is there that a document speaks of."""

import re
from dataclasses import dataclass
from typing import Any

from tests.deployment import apis
from tests.deployment.apis import Answer, Request
from tests.deployment.recorder import Recorder


@dataclass
class Cloud(Recorder):
    """Answers what tests/deployment answers, and makes up what was not made before.

    What is made, and with which settings, is proved there. Here the real gcloud has to understand
    the command and to get an answer that it can show.
    """

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        with self.lock:
            self.requests.append(request)
            status, body = _answer(request, self.resources)
            if status in (404, 501):
                return 200, _made_up(request)
            return status, body


def _answer(request: Request, resources: dict[str, Any]) -> Answer:
    try:
        return apis.answer(request, resources)
    except (KeyError, IndexError, AttributeError):
        return apis.error(501, "UNIMPLEMENTED", f"{request.method} {request.path}")


def _made_up(request: Request) -> Any:
    """What is at a path, however it got there."""
    path = re.sub(r"^/(storage/|apis/[a-z.]+/)?v\d[a-z0-9]*/", "", request.path)
    return {"name": path, "done": True, "state": "ACTIVE", "response": {}}
