"""Faults that are planted in the protocol's code, for as long as a context lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from app.backoff import RetryConfig
from app.dedup import lease, outcome, record, runner
from app.dedup.delivery import Delivery, Trigger
from app.dedup.record import Decision
from app.dedup.stores import conditional

from proof import scheduler


def _deciding(found: Decision, instead: Decision) -> Callable[..., Decision]:
    def decide(*about: Any) -> Decision:
        decision = record.decide(*about)
        return instead if decision is found else decision

    return decide


FINAL_IS_TAKEN: Final = (conditional, "decide", _deciding(Decision.FINAL, Decision.TAKE_OVER))
LIVE_IS_TAKEN: Final = (conditional, "decide", _deciding(Decision.WAIT, Decision.TAKE_OVER))
DEAD_IS_KEPT: Final = (conditional, "decide", _deciding(Decision.TAKE_OVER, Decision.WAIT))
OWN_IS_REFUSED: Final = (conditional, "decide", _deciding(Decision.OWN, Decision.WAIT))
ALL_IS_OURS: Final = (record.Record, "held_by", lambda record, attempt_id: True)
NO_LOOK_BEFORE_THE_WORK: Final = (
    runner.Runner,
    "_start",
    lambda self, *terms: self._work(*terms),
)
RELEASE_FORGETS: Final = (runner, "_settle", lambda claim, settle: settle)
ALL_IS_SCHEDULED: Final = (Delivery, "trigger", lambda self, now: Trigger.SCHEDULED)
ALL_IS_FORCED: Final = (Delivery, "trigger", lambda self, now: Trigger.FORCED)
LOSS_IS_SUCCESS: Final = (
    runner,
    "_lost",
    lambda claim, found: outcome.Processed(claim.run.run_id, None),
)
NO_RENEWAL: Final = (lease.Renewal, "beat", lambda self: 1.0)
NO_END: Final = (lease.Renewal, "beat", lambda self: 0.0)
LONG_SETTLE: Final = (runner, "SETTLE", 3600.0)
NO_RETRIES: Final = (scheduler, "retries_of", lambda setup: RetryConfig())

Plant = tuple[Any, str, Any]


def name_of(value: Plant | str) -> str:
    """A test id, the same in every process: a fault's name, or a promise as it is."""
    if isinstance(value, str):
        return value
    return next(name for name, plant in globals().items() if plant is value)


@contextmanager
def planted(plant: Plant) -> Iterator[None]:
    """Have a fault inside."""
    place, name, fault = plant
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, fault)
        yield
