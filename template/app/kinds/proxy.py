"""A proxy starts its target once per run, and looks before it starts it again (R22, R35, R36)."""

from datetime import datetime, timedelta
from typing import Final

from app.calls.answers import Refused
from app.calls.client import NoCredentials
from app.dedup import Attempt, GiveUp, JobResult, OutcomeUnknown
from app.dedup.delivery import read_delivery, shown
from app.dedup.runner import SETTLE
from app.environment import Reader
from app.kinds import Kind
from app.logs import Log
from app.targets import Searchable, Target, check_endpoint, open_target, target_forms

BODY_FILE: Final = "job_body.json"
SETTLE_TIME: Final = SETTLE
"""A call whose outcome is unknown is left alone for that long before it is looked for.

Also the call of an attempt that has died: nobody knows whether it had been sent, so the run's lease
is longer by that much.
"""

SEARCH_MARGIN: Final = timedelta(minutes=10)
"""How much earlier than its schedule time a scheduled run's start may be dated."""

_log = Log(__name__)


class Proxy:
    """The proxy's job. `separate_forced_runs` says whether a scheduled run keeps to its time."""

    def __init__(self, target: Target, *, separate_forced_runs: bool) -> None:
        self._target = target
        self._separate_forced_runs = separate_forced_runs

    def run(self, attempt: Attempt) -> JobResult:
        """Start the target, unless an earlier attempt at this run has."""
        if attempt.recovered and isinstance(self._target, Searchable):
            found = self._find(self._target, attempt)
            if found is not None:
                _log.info("An earlier attempt has started it.", event="found", target=found)
                return found
        attempt.check()
        try:
            result = self._target.start(attempt.run_id, attempt)
        except (NoCredentials, Refused) as error:
            _log.error(f"The call was refused, and the next retry makes it again: {error}")
            raise
        _log.info("The target is started.", event="started", target=result)
        return result

    def _find(self, target: Searchable, attempt: Attempt) -> JobResult:
        try:
            return target.find(attempt.run_id, attempt, self._since(attempt))
        except (GiveUp, NoCredentials, OutcomeUnknown, Refused) as error:
            # Not to know is no reason to start, and no reason to give up what may be running.
            raise OutcomeUnknown(f"the search for an earlier start failed: {error}") from error

    def _since(self, attempt: Attempt) -> datetime | None:
        """Return a time before the run's first attempt, None if none is known.

        A forced run is made at any time before its schedule time.
        """
        if attempt.forced or not self._separate_forced_runs:
            return None
        return attempt.schedule_time - SEARCH_MARGIN


def create(read: Reader) -> Kind:
    """Return the proxy of the target in `TARGET`."""
    name = read.text("TARGET", "", _check_target)
    endpoint = read.text("TARGET_ENDPOINT", "", lambda url: check_endpoint(url) if url else None)
    separate = read.separate_forced_runs()
    read.close()
    proxy = Proxy(open_target(name, endpoint), separate_forced_runs=separate)
    return Kind(read_delivery, proxy.run, settle=SETTLE_TIME)


def _check_target(name: str) -> str | None:
    if not name:
        return f"is not set; it names what is started: {' or '.join(target_forms())}"
    try:
        open_target(name)
    except ValueError as error:
        return f"{shown(name)}: {error}"
    return None
