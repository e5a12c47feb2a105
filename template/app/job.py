"""Your job. This file is yours: updates of the template never touch it."""

import logging

from app.dedup import Attempt

_log = logging.getLogger(__name__)


def run(attempt: Attempt) -> dict[str, object] | None:
    """Do the work of one scheduled run; `async def` works too.

    Return nothing, or a small dict that is kept with the run and shown to duplicates. Raise to be
    tried again, `GiveUp` if no retry can help, `OutcomeUnknown` if nobody can tell what happened.
    """
    # An earlier attempt may have done part of the work. Pass the tokens on, so that what you
    # call can tell a repetition from a new request:
    #     requests.post(url, headers={"Idempotency-Key": attempt.token("charge")})
    if attempt.recovered:
        _log.info("An earlier attempt did not finish.")

    # Long work looks up between its steps, and stops if it has to.
    attempt.check()

    _log.info("The job for %s runs.", attempt.schedule_time.isoformat())
    return {"scheduled_for": attempt.schedule_time.isoformat()}
