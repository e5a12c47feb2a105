"""A run that no schedule made: it is named by the key that came with it (R09, R37)."""

from dataclasses import dataclass
from datetime import datetime

from app.dedup.delivery import Run, digest


@dataclass(frozen=True, slots=True)
class Step:
    """What is done once for one key.

    Attributes:
        key: The idempotency key or token that the caller sent.
        trigger: What asks for it; equal keys of different triggers are different runs.
        project: Project of the caller, or `""` without a scope (R05).
        location: Location of the caller, or `""` without a scope.
    """

    key: str
    trigger: str
    project: str = ""
    location: str = ""

    def run(self, service: str, now: datetime, *, separate_forced_runs: bool) -> Run:
        """Return the run. Its key is R08's array: JOB_ID is the key, TIME is empty."""
        parts = ("1", service, self.project, self.location, self.key, "", self.trigger)
        return Run(
            run_id=digest(*parts),
            job_name=self.key,
            schedule_time=None,
            project=self.project,
            location=self.location,
            forced=False,
        )

    def fields(self) -> dict[str, str]:
        """Return the key, by which a caller can be asked."""
        return {"job_name": self.key}
