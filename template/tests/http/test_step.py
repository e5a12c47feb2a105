"""A step over real HTTP: named by its Idempotency-Key, in every framework (R37)."""

import uuid

import pytest

from app.dedup.step import Step
from tests.support.clock import NOON
from tests.support.jobs import Plan
from tests.support.servers.places import on_every_framework
from tests.support.servers.process import SERVICE
from tests.support.servers.site import Site, wish
from tests.support.servers.wire import Answer, exchange, raw_request, send

pytestmark = on_every_framework


def ask(site: Site, *keys: str, plan: Plan | None = None) -> Answer:
    """Ask for the step that every key of the request names."""
    fields = [*wish({"kind": "step"}), *(("idempotency-key", key) for key in keys)]
    return send(site.server.port, "POST", "/", fields, (plan or Plan()).body())


@pytest.fixture
def key() -> str:
    """A key of the test's own."""
    return uuid.uuid4().hex


def test_is_done_once_however_its_key_is_written(site: Site, key: str) -> None:
    plan = Plan(result={"paid": 1})
    first, again = ask(site, key, plan=plan), ask(site, f'"{key}"', plan=plan)
    assert (first.outcome, again.outcome) == ((200, "processed"), (200, "duplicate"))
    assert (first.body["result"], again.body["result"]) == ({"paid": 1}, {"paid": 1})
    run = Step(key, "step").run(SERVICE, NOON, separate_forced_runs=True)
    assert first.run_id == again.run_id == run.run_id
    (effect,) = site.effects.starts(run.run_id)
    assert (effect.seen["job_name"], effect.seen["schedule_time"]) == (key, None)


def test_with_another_payload_is_refused(site: Site, key: str) -> None:
    """422 leaves the kept result alone."""
    ask(site, key)
    assert ask(site, key, plan=Plan(result={"x": 1})).outcome == (422, "rejected")
    assert ask(site, key).outcome == (200, "duplicate")


def test_that_failed_is_done_again(site: Site, key: str) -> None:
    """R21."""
    failing = Plan(raises="ValueError")
    assert ask(site, key, plan=failing).outcome == (500, "failed")
    assert ask(site, key).outcome == (200, "processed")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("keys", [(), ("",), ("a", "b"), ("a", "a"), ('"a"', '"b"'), ("a,b",)])
def test_without_one_good_key_is_refused(site: Site, keys: tuple[str, ...]) -> None:
    """R04."""
    answer = ask(site, *keys)
    assert answer.outcome == (400, "rejected")
    assert "Idempotency-Key" in str(answer.body["reason"])


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("value", [b"\xc3\xa4", b"\xff", b"a\tb", b'"a'])
def test_with_a_key_that_is_no_text_is_refused(site: Site, value: bytes) -> None:
    """R04."""
    wished = [(name.encode(), text.encode()) for name, text in wish({"kind": "step"})]
    fields = [*wished, (b"Idempotency-Key", value), (b"Content-Length", b"0")]
    assert exchange(site.server.port, raw_request(fields)).outcome == (400, "rejected")
