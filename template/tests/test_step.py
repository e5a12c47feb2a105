"""How a step's request says which run it is for, and what a caller is answered."""

import hashlib
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dedup import GiveUp, StepAttempt
from app.dedup.delivery import BadDelivery, JobScope
from app.dedup.step import Step
from app.environment import Reader
from app.kinds import open_kind
from app.kinds.step import read_step
from tests.support.clock import NOON
from tests.support.service import LocalService
from tests.support.stores.sqlite import SqliteHarness

KEY = {"idempotency-key": ("abc",)}


def read(*values: str) -> Step:
    return read_step({"idempotency-key": values} if values else {}, "/", {}, JobScope.NONE)


def run_id(step: Step, service: str = "billing") -> str:
    return step.run(service, NOON, separate_forced_runs=True).run_id


class TestKey:
    def test_makes_the_run_with_no_time(self) -> None:
        """R08, R37."""
        array = '["1","billing","","","abc","","step"]'
        assert run_id(read("abc")) == hashlib.sha256(array.encode()).hexdigest()

    @pytest.mark.parametrize(
        ("written", "key"),
        [
            ("abc", "abc"),
            ('"abc"', "abc"),
            ('"a,b c"', "a,b c"),
            (r'"a\"b\\c"', r"a\"b\\c".replace("\\\\", "\\").replace('\\"', '"')),
            ("a\\b", "a\\b"),
            ("8e03978e-40d5-43e8-bc93-6894a57f9324", "8e03978e-40d5-43e8-bc93-6894a57f9324"),
            ("k" * 255, "k" * 255),
            ('"' + "k" * 255 + '"', "k" * 255),
        ],
    )
    def test_is_the_same_bare_and_in_quotes(self, written: str, key: str) -> None:
        assert read(written).key == key

    @given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=255))
    def test_in_quotes_can_be_any_printable_text(self, key: str) -> None:
        escaped = key.replace("\\", "\\\\").replace('"', '\\"')
        assert read(f'"{escaped}"').key == key

    @given(st.text())
    def test_that_is_read_is_printable_whatever_is_sent(self, value: str) -> None:
        with suppress(BadDelivery):
            key = read(value).key
            assert 1 <= len(key) <= 255
            assert key.isascii()
            assert key.isprintable()

    @pytest.mark.parametrize(
        "value",
        [
            "",
            '""',
            '"',
            '"abc',
            'abc"x,y',
            '"a";b=1',
            '"a", "b"',
            "a,b",
            "k" * 256,
            "\t",
            "ä",
            '"\\a"',
        ],
    )
    def test_that_is_malformed_is_refused(self, value: str) -> None:
        """R04."""
        with pytest.raises(BadDelivery, match=r"Idempotency-Key is .* which is no key"):
            read(value)

    def test_that_is_missing_or_repeated_is_refused(self) -> None:
        """R04."""
        with pytest.raises(BadDelivery, match="Idempotency-Key is missing"):
            read()
        with pytest.raises(BadDelivery, match="was sent 2 times"):
            read("a", "a")

    def test_of_another_service_or_scope_is_another_run(self) -> None:
        """R05, R08."""
        scoped = read_step(KEY, "/projects/p/locations/l", {}, JobScope.PATH)
        ids = {run_id(read("abc")), run_id(read("abc"), "other"), run_id(scoped)}
        assert len(ids) == 3


class Billing:
    """A step whose job keeps what it was given."""

    def __init__(self, harness: SqliteHarness, error: Exception | None = None) -> None:
        self.attempts: list[StepAttempt] = []

        def job(attempt: StepAttempt) -> dict[str, object]:
            self.attempts.append(attempt)
            if error:
                raise error
            return {"paid": 1}

        self._service = LocalService(harness, job, like=open_kind("step", Reader({})))

    def ask(self, body: bytes = b"{}", key: str = "abc") -> tuple[int, dict[str, object]]:
        headers = {"idempotency-key": (key,)} if key else {}
        answer = self._service.handle(headers=headers, body=body)
        return answer.status, answer.body


class TestAnswer:
    def test_to_a_repetition_shows_the_kept_result(self, sqlite_harness: SqliteHarness) -> None:
        """R11, R20."""
        billing = Billing(sqlite_harness)
        first, again = billing.ask(), billing.ask(key='"abc"')
        assert (first[0], first[1]["outcome"], first[1]["result"]) == (
            200,
            "processed",
            {"paid": 1},
        )
        assert (again[0], again[1]["outcome"], again[1]["result"]) == (
            200,
            "duplicate",
            {"paid": 1},
        )
        assert len(billing.attempts) == 1

    def test_to_another_payload_under_the_key_is_422(self, sqlite_harness: SqliteHarness) -> None:
        """R37, and the IETF draft."""
        billing = Billing(sqlite_harness)
        billing.ask(b'{"amount": 1}')
        status, body = billing.ask(b'{"amount": 2}')
        assert (status, body["outcome"]) == (422, "rejected")
        assert "a new request needs a new key" in str(body["reason"])
        assert len(billing.attempts) == 1

    def test_without_a_key_is_400_and_touches_no_record(
        self, sqlite_harness: SqliteHarness
    ) -> None:
        """R04."""
        status, body = Billing(sqlite_harness).ask(key="")
        assert (status, body["outcome"]) == (400, "rejected")

    def test_after_the_job_gave_up_stays_the_same(self, sqlite_harness: SqliteHarness) -> None:
        """R23."""
        billing = Billing(sqlite_harness, GiveUp("no such account"))
        assert [billing.ask()[1]["outcome"] for _ in range(2)] == ["gave_up", "gave_up"]
        assert len(billing.attempts) == 1

    def test_after_a_failure_is_that_of_a_new_try(self, sqlite_harness: SqliteHarness) -> None:
        """R21: a 5xx is never kept."""
        billing = Billing(sqlite_harness, ValueError("as the test wanted it"))
        assert [billing.ask()[0] for _ in range(2)] == [500, 500]
        assert len(billing.attempts) == 2


def test_the_job_gets_an_attempt_without_a_schedule_time(sqlite_harness: SqliteHarness) -> None:
    """R09: its tokens go on downstream."""
    billing = Billing(sqlite_harness)
    _, body = billing.ask(b"[1]")
    (attempt,) = billing.attempts
    assert type(attempt) is StepAttempt
    assert (attempt.job_name, attempt.body, attempt.run_id) == ("abc", b"[1]", body["run_id"])
    array = json.dumps(["1", attempt.run_id, "charge"], separators=(",", ":"))
    assert attempt.token("charge") == hashlib.sha256(array.encode()).hexdigest()
