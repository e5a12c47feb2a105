"""Each run starts its target once, whatever goes wrong, but for two cases (R22, R35, R36)."""

import random
from contextlib import suppress

import pytest

from dev.standin import Trouble
from tests.support.service import Answer
from tests.targets.proxied import Killed, Proxied

RUNS = 200
FAULTS = (*Trouble, "dies before", "dies after", "at once", None)


def begin(proxied: Proxied, run: int, fault: Trouble | str | None) -> None:
    """Make the first attempt at a run, with a fault."""
    if isinstance(fault, Trouble):
        proxied.stand_in.plan.append(fault)
    if fault == "at once":
        proxied.deliver_at_once(run, 3)
    else:
        dies = fault.partition(" ")[2] if isinstance(fault, str) else ""
        proxied.deliver(run, dies=dies)


def assert_started_once(proxied: Proxied, answer: Answer) -> None:
    assert answer.status == 200
    assert answer.body["outcome"] in ("processed", "duplicate")
    assert proxied.starts(answer) == 1


def test_a_run_starts_its_target_once_whatever_goes_wrong(proxied: Proxied) -> None:
    """Each fault by itself and together with others, in many runs."""
    chance = random.Random(proxied.name)
    for run in range(RUNS):
        begin(proxied, run, FAULTS[run % len(FAULTS)])
        for later in chance.choices(FAULTS, k=run // len(FAULTS) % 3):
            proxied.pass_time()
            if proxied.searches and chance.random() < 0.5:
                proxied.stand_in.searches.append(chance.choice(list(Trouble)))
            begin(proxied, run, later)
        assert_started_once(proxied, proxied.deliver_until_done(run))
        proxied.stand_in.plan.clear()
        proxied.stand_in.searches.clear()
    assert sum(proxied.stand_in.api.starts.values()) == RUNS


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_alone_costs_no_second_start(proxied: Proxied, fault: Trouble | str | None) -> None:
    begin(proxied, 0, fault)
    answer = proxied.deliver_until_done()
    assert_started_once(proxied, answer)
    assert proxied.deliver().body == {**answer.body, "outcome": "duplicate"}


def test_a_failing_search_starts_nothing(searched: Proxied) -> None:
    """R22: not to know is no reason to start."""
    searched.stand_in.plan.append(Trouble.LOST_ANSWER)
    searched.deliver()
    for trouble in (Trouble.LOST_ANSWER, Trouble.UNAVAILABLE, Trouble.TOO_MANY):
        searched.pass_time()
        searched.stand_in.searches.append(trouble)
        answer = searched.deliver()
        assert answer.outcome == (500, "failed")
        assert searched.starts(answer) == 1
    assert_started_once(searched, searched.deliver_until_done())


@pytest.mark.parametrize("lease", [5, 60])
def test_a_call_of_a_dead_attempt_has_the_settle_time_too(proxied: Proxied, lease: int) -> None:
    """R22: it was sent, and takes effect although nobody waits for it."""
    proxied.stand_in.plan.append(Trouble.LATE)
    with suppress(Killed):
        proxied.deliver(dies="after", lease=lease)
    proxied.harness.fake.advance(lease + 0.1)
    assert proxied.deliver(lease=lease).outcome == (409, "in_progress")
    proxied.harness.fake.advance(29.0)
    proxied.stand_in.settle()
    proxied.harness.fake.advance(1.0)
    assert_started_once(proxied, proxied.deliver(lease=lease))


class TestASecondStart:
    """What docs/reference/proxy.md says can start a target twice, and nothing else here does."""

    def test_comes_from_a_call_that_takes_effect_after_the_settle_time(
        self, proxied: Proxied
    ) -> None:
        proxied.stand_in.plan.append(Trouble.LATE)
        proxied.deliver()
        proxied.harness.fake.advance(61)
        answer = proxied.deliver()
        proxied.stand_in.settle()
        assert answer.outcome == (200, "processed")
        assert proxied.starts(answer) == (2 if proxied.searches else 1)

    def test_comes_from_a_search_that_does_not_see_what_is_there(self, searched: Proxied) -> None:
        searched.stand_in.plan.append(Trouble.LOST_ANSWER)
        searched.deliver()
        searched.blind(value=True)
        assert searched.starts(searched.deliver_until_done()) == 2
