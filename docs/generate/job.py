"""What the owner's job gets and may raise."""

from typing import Final

from app.dedup import Attempt, ClaimLost, GiveUp, OutcomeUnknown, StepAttempt, Stopping

from docs.generate import sources
from docs.generate.markdown import code, table

_ENDS: Final = {
    GiveUp: "200 `gave_up`",
    OutcomeUnknown: "500 `failed`; the next attempt comes after 30 s",
    ClaimLost: "409 or 500 `lost`, or 200 if another attempt has ended the run",
    Stopping: "500 `failed`; the claim is released",
}
"""How a delivery is answered whose job raises each."""


_OTHERWISE: Final = {
    "job_name": "JOB_ID of the job; for a step, the key that came with the request.",
    "check()": "Raises `ClaimLost` or `Stopping` if it is time to stop; call it between the steps"
    " of long work.",
}
"""What is said in other words here, as one table is about both kinds of attempt."""


def attempt() -> str:
    """Return a table of an attempt's attributes and methods."""
    own, step = sources.attributes(Attempt), sources.attributes(StepAttempt)
    token = sources.summary(StepAttempt.token).removeprefix("Return the")
    said = {**step, **own, "token(step)": f"The{token}", **_OTHERWISE}
    rows = [
        (code(f"attempt.{name}"), "a handler or proxy" if name in own else "any kind", text)
        for name, text in said.items()
    ]
    return table(("use", "in", "it is"), rows)


def exceptions() -> str:
    """Return a table of the exceptions that mean something."""
    rows = [
        (code(kind.__name__), sources.summary(kind), answered) for kind, answered in _ENDS.items()
    ]
    return table(("exception", "means", "the delivery gets"), rows)
