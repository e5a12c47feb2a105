"""The service under the soak: a job that appends to the journal what it does."""

import json
import os
import random
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from app import logs
from app.auth import open_authenticator
from app.dedup import Attempt
from app.dedup.delivery import read_delivery
from app.dedup.stores import open_store
from app.kinds import Kind
from app.service import Service
from app.settings import Settings
from app.shutdown import SHUTDOWN

from proof.soak.journal import Fault, Journal, Work

FOLDER: Final = "SOAK_FOLDER"
LEASE: Final = "SOAK_LEASE_SECONDS"

STANDSTILL: Final = 0.5
"""Seconds for which a process has to stand still to say so."""

_STEP: Final = 0.05

_watched: set[int] = set()
_lock = threading.Lock()


def service() -> Service:
    """Return the service, with a lease that may be shorter than people should have."""
    settings = Settings.from_environ(os.environ)
    logs.configure(settings.log_level)
    return Service(
        replace(settings, lease=float(os.environ[LEASE])),
        open_store(settings.run_store_url),
        open_authenticator(settings.auth, audience="", service_account=""),
        Kind(read_delivery, run),
        SHUTDOWN,
    )


def run(attempt: Attempt) -> dict[str, object]:
    """Work for the seconds that the body names, fail as often as it says, and write it down."""
    journal = Journal(Path(os.environ[FOLDER]))
    _watch(journal)
    plan = json.loads(attempt.body)
    _write(journal, "start", attempt)
    if random.random() < plan["fails"]:
        raise RuntimeError("as the soak wanted it")
    end = time.monotonic() + plan["seconds"]
    while (left := end - time.monotonic()) > 0:
        attempt.check()
        time.sleep(min(left, _STEP))
    attempt.check()
    _write(journal, "done", attempt)
    return {"fence": attempt.fence}


def _write(journal: Journal, what: str, attempt: Attempt) -> None:
    journal.add(
        Work(
            what,
            attempt.run_id,
            attempt.attempt_id,
            attempt.fence,
            attempt.recovered,
            os.getpgid(0),
            time.time(),
        )
    )


def _watch(journal: Journal) -> None:
    """Have this process write down when it stood still: only it knows for how long."""
    with _lock:
        if os.getpid() in _watched:
            return
        _watched.add(os.getpid())

    def watch() -> None:
        before = time.time()
        while True:
            time.sleep(_STEP)
            now = time.time()
            if now - before > STANDSTILL:
                journal.add(Fault("standstill", os.getpgid(0), before, now))
            before = now

    threading.Thread(target=watch, daemon=True).start()
