"""A job that remembers what it was asked to do."""

from app.dedup import Attempt, JobResult


class Work:
    """A job that remembers its attempts and ends as a test wants it."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.error: Exception | None = None

    def __call__(self, attempt: Attempt) -> JobResult:
        self.attempts.append(attempt)
        if self.error:
            raise self.error
        return {"rows": 1}
