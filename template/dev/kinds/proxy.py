"""A proxy has the stand-in of its target, which counts and loses answers."""

from collections.abc import Iterator
from contextlib import contextmanager

from dev.kinds import Surroundings
from dev.plan import Scenario
from dev.standin import Trouble, standing_in
from dev.targets import names, open_api

SETTING = "TARGET"

SCENARIOS = (
    Scenario(
        "target-lost-answer",
        "started, the target's answer gets lost",
        trouble=Trouble.LOST_ANSWER.value,
        by_default=True,
    ),
    Scenario(
        "target-lost-request",
        "not started, the request to the target gets lost",
        trouble=Trouble.LOST_REQUEST.value,
    ),
    Scenario(
        "target-unavailable",
        "started, the target answers 503",
        trouble=Trouble.UNAVAILABLE_AFTER.value,
    ),
)


@contextmanager
def surroundings() -> Iterator[Surroundings]:
    """Serve the stand-in of this project's target."""
    with standing_in(open_api(names()[0])) as stand_in:
        yield Surroundings(
            stand_in.environ,
            executions=lambda run_id: stand_in.api.starts[run_id],
            expect=lambda trouble: stand_in.plan.append(Trouble(trouble)),
        )
