"""The command `python -m app.records` on a store under test."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pytest

from app.dedup.delivery import Delivery, Instant, Trigger
from app.dedup.record import Status
from app.dedup.store import Claim, Claimed, Run, Terms
from app.records.__main__ import main
from tests.support.steps import T
from tests.support.stores import Harness

SERVICE = "nightly-report"
JOB = "nightly"
TERMS = Terms(lease=60.0, retention=172_800.0)

ENVIRON = {
    "RUN_STORE_URL": "sqlite:///runs.db",
    "SERVICE": SERVICE,
    "JOB_ID": JOB,
    "JOB_SCOPE": "none",
    "FORCED_RUNS": "separate",
    "SCHEDULE": "*/15 * * * *",
    "TIME_ZONE": "Etc/UTC",
    "RETENTION_SECONDS": "172800",
    "ATTEMPT_DEADLINE_SECONDS": "15",
    "GOOGLE_CLOUD_PROJECT": "my-project",
    "AUTH": "off",
}
"""What the command finds, of which every answer of the template might be the default."""


@dataclass(frozen=True, slots=True)
class Done:
    """How the command ended."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """What it printed for scripts."""
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


class Command:
    """Calls the command as a process would, on the harness's store."""

    def __init__(self, harness: Harness, capsys: pytest.CaptureFixture[str]) -> None:
        self.harness = harness
        self.now: datetime | None = None
        """The time of the machine on which the command runs, if it is not the store's."""
        self._capsys = capsys

    def __call__(self, *argv: str, **environ: str) -> Done:
        clock = self.harness.clock()
        if now := self.now:
            clock = replace(clock, now=lambda: now)
        try:
            found = ENVIRON | environ
            status = int(main(argv, found, connect=lambda url: self.harness.open(), clock=clock))
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        printed = self._capsys.readouterr()
        return Done(status, printed.out, printed.err)

    def data(self, *argv: str, **environ: str) -> dict[str, Any]:
        """Return what the command prints for scripts."""
        return self(*argv, "--json", **environ).data


def text(moment: datetime | None) -> str:
    """Return a time as a person types it."""
    assert moment is not None
    return moment.isoformat().replace("+00:00", "Z")


def run_at(
    moment: datetime | None, *, forced: bool = False, job: str = JOB, service: str = SERVICE
) -> Run:
    """Return the run that is scheduled for `moment`, under its right key."""
    assert moment is not None
    delivery = Delivery(job, Instant.of(moment), "", "")
    trigger = Trigger.FORCED if forced else Trigger.SCHEDULED
    return Run(delivery.run_id(service, trigger), job, moment, "", "", forced)


def begin(harness: Harness, run: Run, *, lease: float = 60.0) -> Claim:
    """Claim a run."""
    terms = Terms(lease=lease, retention=TERMS.retention)
    answer = harness.open().claim(run, "one", terms, timeout=T)
    assert isinstance(answer, Claimed)
    return answer.claim


def end(
    harness: Harness, run: Run, status: Status = Status.COMPLETED, result: str | None = None
) -> Run:
    """Claim a run and make its record final."""
    assert harness.open().finish(begin(harness, run), status, result, timeout=T) is None
    return run
