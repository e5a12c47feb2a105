"""Records are read tolerantly, and the decision about them is one pure function (R10-R17)."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dedup.record import (
    ORPHAN_LEASE,
    Decision,
    Fields,
    Record,
    Stamp,
    Status,
    decide,
    later,
)
from tests.support.clock import NOON

NAMES = ("status", "attempt_id", "lease_seconds", "lease_expires", "expire_at", "result", "forced")


def record(fields: Fields, *, age: float = 0.0, written: bool = True) -> Record:
    """A record that was written `age` seconds before it is read."""
    at = NOON - timedelta(seconds=age) if written else None
    return Record.parse("r", fields, Stamp(1, at, 1), NOON)


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(), st.integers(), max_size=2),
    st.sampled_from([*Status, "[" * 100_000, "2026-10-16T12:00:00Z"]),
)


@given(st.dictionaries(st.sampled_from(NAMES), anything))
def test_no_record_crashes_a_request(fields: dict[str, object]) -> None:
    """R17."""
    found = record(fields)
    assert isinstance(decide(found, "me"), Decision)
    assert isinstance(found.lease_left(), float)


@given(st.dictionaries(st.sampled_from(NAMES), anything))
def test_nothing_beside_the_status_makes_a_final_record_claimable(
    fields: dict[str, object],
) -> None:
    """R11, R17."""
    assert decide(record({**fields, "status": "completed"}), "me") is Decision.FINAL
    assert decide(record({**fields, "status": "failed"}), "me") is Decision.FINAL


@pytest.mark.parametrize("status", [None, "", "done", "COMPLETED", 1, True, b"completed", ["x"]])
def test_any_other_status_is_refused(status: object) -> None:
    """R17: fail closed."""
    assert decide(record({"status": status, "attempt_id": "me"}), "me") is Decision.REFUSE


class TestLease:
    @pytest.mark.parametrize(
        ("age", "expected"),
        [(0.0, Decision.WAIT), (59.999, Decision.WAIT), (60.0, Decision.TAKE_OVER)],
    )
    def test_is_alive_until_exactly_its_seconds_after_the_last_write(
        self, age: float, expected: Decision
    ) -> None:
        """R16."""
        found = record({"status": "in_progress", "attempt_id": "x", "lease_seconds": 60}, age=age)
        assert decide(found, "me") is expected

    @pytest.mark.parametrize("expires", [NOON - timedelta(days=1), NOON + timedelta(days=1)])
    def test_end_for_people_decides_nothing_where_there_are_seconds(
        self, expires: datetime
    ) -> None:
        """R16."""
        found = record({"status": "in_progress", "lease_seconds": 60, "lease_expires": expires})
        assert found.lease_left() == 60

    def test_end_is_judged_where_there_are_no_seconds(self) -> None:
        """R16, R17: the documented sample's shape."""
        found = record({"status": "in_progress", "lease_expires": NOON + timedelta(seconds=5)})
        assert found.lease_left() == 5

    @pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, 10.0**10, True, "60", None])
    def test_of_no_use_is_an_hour(self, seconds: object) -> None:
        """R17; bug rows 2 and 9."""
        fields = {"status": "in_progress", "lease_seconds": seconds}
        assert record(fields, age=10).lease_left() == ORPHAN_LEASE - 10

    def test_without_any_time_is_for_good(self) -> None:
        """R17."""
        assert record({"status": "in_progress"}, written=False).lease_left() == math.inf

    def test_with_an_end_and_no_time_of_writing_is_judged_by_the_end(self) -> None:
        """R17."""
        fields = {"status": "in_progress", "lease_seconds": 60, "lease_expires": NOON}
        assert record(fields, written=False).lease_left() == 0


class TestOwnClaim:
    def test_is_recognised_even_after_its_lease(self) -> None:
        """R15."""
        fields = {"status": "in_progress", "attempt_id": "me", "lease_seconds": 1}
        assert decide(record(fields, age=500), "me") is Decision.OWN


class TestMoments:
    def test_are_read_as_utc_whatever_their_zone(self) -> None:
        """R17."""
        zoned = NOON.astimezone(timezone(timedelta(hours=2)))
        assert record({"expire_at": zoned}).expire_at == NOON
        assert record({"expire_at": NOON.replace(tzinfo=None)}).expire_at == NOON
        assert record({"expire_at": "2026-10-16T14:00:00+02:00"}).expire_at == NOON

    def test_end_where_the_calendar_ends(self) -> None:
        """R29."""
        assert later(datetime.max.replace(tzinfo=UTC), 60) == datetime.max.replace(tzinfo=UTC)
