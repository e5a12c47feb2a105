"""A request becomes a delivery, and a delivery a run (R01-R06, R08, R09)."""

import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dedup.delivery import (
    FORCED_MARGIN,
    BadDelivery,
    Delivery,
    Headers,
    Instant,
    JobScope,
    Trigger,
    read_delivery,
    step_token,
)

NOON = "2026-10-16T12:00:00Z"
JOB, TIME = "X-CloudScheduler-JobName", "X-CloudScheduler-ScheduleTime"
FIRST, LAST = datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)
PINNED_RUN_ID = "0242aef585dc506b812c56fa9f6fe465715e334501084683e4e3c87c390b5ca9"
PINNED_TOKEN = "cb2b04eaa92acd8a29126329144549d9efa6d2cdfc26a1b24a45773580f19fd2"


def sent(**changes: tuple[str, ...]) -> Headers:
    """The headers of a good delivery; `job` and `time` replace the values of one."""
    return {
        JOB.lower(): changes.get("job", ("nightly",)),
        TIME.lower(): changes.get("time", (NOON,)),
    }


def read(headers: Headers) -> Delivery:
    return read_delivery(headers, "/", {}, JobScope.NONE)


def delivery(
    time: str = NOON, job: str = "nightly", project: str = "", place: str = ""
) -> Delivery:
    return Delivery(job, Instant.parse(time), project, place)


def refusal(headers: Headers) -> str:
    with pytest.raises(BadDelivery) as refused:
        read(headers)
    return str(refused.value)


def spelling(moment: datetime, fraction: str, offset: int | None, lower: bool) -> str:
    """Write a UTC moment as RFC 3339 allows; `offset` is in minutes, None stands for Z."""
    local = (moment + timedelta(minutes=offset or 0)).isoformat()[:19]
    sign, minutes = ("-" if offset is not None and offset < 0 else "+"), abs(offset or 0)
    zone = "Z" if offset is None else f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    text = f"{local}{'.' if fraction else ''}{fraction}{zone}"
    return text.lower() if lower else text


def after_first(seconds: int) -> datetime:
    return FIRST + timedelta(seconds=seconds)


class TestOneInstantIsOneRun:
    @pytest.mark.parametrize(
        "written",
        [
            "2026-10-16T12:00:00Z",
            "2026-10-16t12:00:00z",
            "2026-10-16T12:00:00+00:00",
            "2026-10-16T12:00:00-00:00",
            "2026-10-16T05:00:00-07:00",
            "2026-10-16T17:30:00+05:30",
            "2026-10-15T12:01:00-23:59",
            "2026-10-17T11:59:00+23:59",
            "2026-10-16T12:00:00.0Z",
            "2026-10-16T12:00:00.000Z",
            "2026-10-16T12:00:00.000000000Z",
        ],
    )
    def test_however_it_is_written(self, written: str) -> None:
        """R01, R03: Scheduler writes America/Los_Angeles offsets, whatever the job's zone."""
        assert read(sent(time=(written,))).schedule_time == Instant.parse(NOON)

    @given(
        moment=st.integers(0, int((LAST - FIRST).total_seconds())).map(after_first),
        fraction=st.text("0123456789", max_size=9),
        offset=st.none() | st.integers(-1439, 1439),
        lower=st.booleans(),
    )
    def test_in_every_spelling_of_every_time(
        self, moment: datetime, fraction: str, offset: int | None, lower: bool
    ) -> None:
        """R03, R08: the key has one canonical text, to the last digit that was written."""
        parsed = Instant.parse(spelling(moment, fraction, offset, lower))

        digits = fraction.rstrip("0")
        assert parsed.text == spelling(moment, digits, None, lower=False)
        assert parsed.moment == moment.replace(microsecond=int(fraction[:6].ljust(6, "0")))

    def test_and_a_repeated_wall_time_is_two(self) -> None:
        """R03: at the end of daylight saving, half past one comes twice."""
        summer, winter = "2026-11-01T01:30:00-07:00", "2026-11-01T01:30:00-08:00"
        assert Instant.parse(summer) != Instant.parse(winter)

    def test_and_a_nanosecond_makes_another(self) -> None:
        """R03: a datetime could not tell these two apart."""
        first, second = (Instant.parse(f"2026-10-16T12:00:00.00000000{n}Z") for n in (1, 2))
        assert first.moment == second.moment
        assert first.text != second.text


class TestScheduleTime:
    @pytest.mark.parametrize(
        "written",
        [
            "",
            "now",
            "every 5 minutes",
            "2026-W42-5T12:00:00Z",
            "2026-289T12:00:00Z",
            "20261016T120000Z",
            "2026-10-16 12:00:00Z",
            "2026-10-16T12:00Z",
            "2026-10-16T12:00:00",
            "2026-10-16T12:00:00,5Z",
            "2026-10-16T12:00:00.Z",
            "2026-10-16T12:00:00.1234567890Z",
            "2026-10-16T12:00:60Z",
            "2026-10-16T24:00:00Z",
            "2026-10-16T12:60:00Z",
            "2026-10-16T12:00:00+24:00",
            "2026-10-16T12:00:00+07:60",
            "2026-10-16T12:00:00+0700",
            "2026-10-16T12:00:00+07",
            "2026-10-16T12:00:00\u221207:00",
            "2026-10-16T12:00:00 UTC",
            "2026-02-29T12:00:00Z",
            "2026-13-01T12:00:00Z",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "+2026-10-16T12:00:00Z",
            "2026-10-16T12:00:00Z\n",
            " 2026-10-16T12:00:00Z",
            "2026-10-16T12:00:00Z, 2026-10-16T12:00:00Z",
            "\uff12\uff10\uff12\uff16-10-16T12:00:00Z",
            "2026-10-16T12:00:0\u0664Z",
        ],
    )
    def test_is_refused_if_it_is_no_time_of_rfc_3339(self, written: str) -> None:
        """R03, R04: Python's own parser accepts some of these."""
        assert TIME in refusal(sent(time=(written,)))

    @given(
        st.text(max_size=40)
        | st.from_regex(
            r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{0,10})?([Zz]|[+-]\d\d:\d\d)", fullmatch=True
        )
    )
    def test_is_read_or_refused_whatever_is_sent(self, written: str) -> None:
        """R04: no header crashes a request."""
        with suppress(ValueError):
            assert Instant.parse(written).moment.tzinfo is UTC

    def test_if_missing_is_refused_with_the_cause_and_the_remedy(self) -> None:
        """R04: groc schedules and some forced runs come without it."""
        message = refusal({JOB.lower(): ("nightly",)})
        assert TIME in message
        assert "every 5 minutes" in message
        assert "unix-cron" in message

    def test_if_sent_twice_is_refused_even_if_equal(self) -> None:
        """R04."""
        assert f"{TIME} was sent 2 times" in refusal(sent(time=(NOON, NOON)))


class TestJobName:
    @pytest.mark.parametrize("name", ["a", "0", "-", "_", "Nightly_report-2", "x" * 500])
    def test_is_taken_as_it_is(self, name: str) -> None:
        """R01, R04: upper and lower case are different jobs."""
        assert read(sent(job=(name,))).job_name == name

    @pytest.mark.parametrize(
        "name",
        ["", " ", "a b", "a/b", "a.b", "a,a", "nightly\n", "n\u00e4ghtly", "\u0661", "x" * 501],
    )
    def test_is_refused_if_it_is_no_job_id(self, name: str) -> None:
        """R04: what is quoted from it fits into one short line of ASCII."""
        message = refusal(sent(job=(name,)))
        assert JOB in message
        assert message.isascii()
        assert message.isprintable()
        assert len(message) < 350

    def test_if_missing_is_refused(self) -> None:
        """R04."""
        assert f"{JOB} is missing" in refusal({TIME.lower(): (NOON,)})

    def test_if_sent_twice_is_refused_even_if_equal(self) -> None:
        """R04."""
        assert f"{JOB} was sent 2 times" in refusal(sent(job=("nightly", "nightly")))


class TestForcedRuns:
    @pytest.mark.parametrize(
        ("ahead", "trigger"),
        [
            (timedelta(days=-1), Trigger.SCHEDULED),
            (timedelta(0), Trigger.SCHEDULED),
            (timedelta(seconds=10), Trigger.SCHEDULED),
            (timedelta(seconds=10, microseconds=1), Trigger.FORCED),
            (timedelta(days=30), Trigger.FORCED),
        ],
    )
    def test_are_those_more_than_ten_seconds_ahead(
        self, ahead: timedelta, trigger: Trigger
    ) -> None:
        """R06: exactly ten seconds are the jitter of a scheduled run."""
        assert timedelta(seconds=10) == FORCED_MARGIN
        assert delivery(NOON).trigger(Instant.parse(NOON).moment - ahead) is trigger

    def test_have_a_key_of_their_own(self) -> None:
        """R06: so the scheduled run that follows still happens."""
        at_noon = delivery(NOON)
        assert at_noon.run_id("a", Trigger.FORCED) != at_noon.run_id("a", Trigger.SCHEDULED)


class TestRunId:
    def test_is_the_digest_of_the_documented_array(self) -> None:
        """R08."""
        found = delivery("2026-10-16T05:00:00.250-07:00", "nightly", "my-project", "us-central1")
        array = (
            '["1","nightly-report","my-project","us-central1","nightly",'
            '"2026-10-16T12:00:00.25Z","scheduled"]'
        )
        assert found.run_id("nightly-report", Trigger.SCHEDULED) == sha256(array)

    def test_without_a_scope_has_empty_parts(self) -> None:
        """R08."""
        array = '["1","nightly-report","","","nightly","2026-10-16T12:00:00Z","forced"]'
        assert delivery().run_id("nightly-report", Trigger.FORCED) == sha256(array)

    def test_never_changes(self) -> None:
        """R08: with another digest, every record in every store would be forgotten."""
        assert delivery().run_id("nightly-report", Trigger.SCHEDULED) == PINNED_RUN_ID

    def test_of_staging_and_production_differ(self) -> None:
        """R08: two services on one store."""
        run = delivery()
        assert run.run_id("staging", Trigger.SCHEDULED) != run.run_id("live", Trigger.SCHEDULED)

    def test_differs_when_values_shift_between_the_parts(self) -> None:
        """R08: a joined string takes the first two for one run."""
        parts = [("a/b", "c"), ("a", "b/c"), ("a/b/c", ""), ('a","b', "c"), ("", "a/b/c")]
        runs = {
            delivery(project=project, place=place).run_id("service", Trigger.SCHEDULED)
            for project, place in parts
        }
        assert len(runs) == len(parts)

    @given(st.lists(st.tuples(*[st.text('ab/",\\[]', max_size=4)] * 4), min_size=2, unique=True))
    def test_is_different_for_different_parts(self, parts: list[tuple[str, str, str, str]]) -> None:
        """R08."""
        runs = {
            delivery(job=job, project=project, place=place).run_id(service, Trigger.SCHEDULED)
            for service, project, place, job in parts
        }
        assert len(runs) == len(parts)


class TestStepToken:
    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
    def test_is_the_digest_of_the_documented_array(self, step: str) -> None:
        """R09: UTF-8, without escapes."""
        array = json.dumps(["1", "ab" * 32, step], separators=(",", ":"), ensure_ascii=False)
        assert step_token("ab" * 32, step) == sha256(array)

    def test_never_changes(self) -> None:
        """R09: a token that changes makes the steps downstream happen again."""
        assert step_token("ab" * 32, "charge") == PINNED_TOKEN

    def test_differs_between_steps_and_runs(self) -> None:
        """R09."""
        tokens = {step_token(run * 32, step) for run in ("ab", "cd") for step in ("a", "b", "")}
        assert len(tokens) == 6


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
