"""The scheduled times of a job (R30), across the changes of the clocks in its time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import schedule
from app.schedule import (
    coming_times,
    is_repeated,
    parse_zone,
    past_times,
    shortest_interval,
    times_between,
)

PARIS = ZoneInfo("Europe/Paris")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")  # its clocks change by half an hour
MINUTE = timedelta(minutes=1)

SPRING = {PARIS: (2026, 3, 29), NEW_YORK: (2026, 3, 8), LORD_HOWE: (2026, 10, 4)}
AUTUMN = {PARIS: (2026, 10, 25), NEW_YORK: (2026, 11, 1), LORD_HOWE: (2026, 4, 5)}
CHANGES = [*SPRING.items(), *AUTUMN.items()]


def around(zone: ZoneInfo, day: tuple[int, int, int]) -> tuple[datetime, datetime]:
    """Return the two days around the change of a day, in UTC."""
    noon = datetime(*day, 12, tzinfo=zone).astimezone(UTC)
    return noon - timedelta(days=1), noon + timedelta(days=1)


def local(times: Iterator[datetime], zone: ZoneInfo) -> list[str]:
    return [time.astimezone(zone).strftime("%d %H:%M %z") for time in times]


def watched(
    zone: ZoneInfo, since: datetime, until: datetime, minutes: set[int], hours: set[int]
) -> Iterator[datetime]:
    """Yield when somebody who watches the clock of `zone`, minute by minute, sees those times."""
    while since < until:
        wall = since.astimezone(zone)
        if wall.minute in minutes and wall.hour in hours:
            yield since
        since += MINUTE


class TestWallTime:
    @pytest.mark.parametrize(
        ("zone", "expected"),
        [
            (PARIS, ["28 02:30 +0100", "30 02:30 +0200"]),
            (NEW_YORK, ["07 02:30 -0500", "09 02:30 -0400"]),
        ],
    )
    def test_that_does_not_exist_is_no_run(self, zone: ZoneInfo, expected: list[str]) -> None:
        first, last = around(zone, SPRING[zone])
        day = timedelta(days=1)
        assert local(times_between("30 2 * * *", zone, first - day, last), zone) == expected

    @pytest.mark.parametrize(
        ("zone", "hour", "expected"),
        [
            (PARIS, 2, ["25 02:30 +0200", "25 02:30 +0100"]),
            (NEW_YORK, 1, ["01 01:30 -0400", "01 01:30 -0500"]),
        ],
    )
    def test_that_exists_twice_is_two_runs(
        self, zone: ZoneInfo, hour: int, expected: list[str]
    ) -> None:
        """R03: with two keys, being two instants."""
        times = [*times_between(f"30 {hour} * * *", zone, *around(zone, AUTUMN[zone]))]
        assert local(iter(times), zone)[:2] == expected
        assert times[1] - times[0] == timedelta(hours=1)
        assert [is_repeated(time, zone) for time in times[:2]] == [True, True]
        assert not is_repeated(times[1] + timedelta(hours=1), zone)

    def test_of_a_repeated_hour_is_counted_in_the_order_of_the_day(self) -> None:
        since = datetime(2026, 10, 25, 2, tzinfo=PARIS).astimezone(UTC)
        times = times_between("*/30 2,3 * * *", PARIS, since, since + timedelta(hours=2))
        assert local(times, PARIS) == [
            "25 02:00 +0200",
            "25 02:30 +0200",
            "25 02:00 +0100",
            "25 02:30 +0100",
        ]

    @pytest.mark.parametrize(("zone", "day"), CHANGES)
    @given(
        minutes=st.sets(st.integers(0, 59), min_size=1, max_size=4),
        hours=st.sets(st.integers(0, 23), min_size=1, max_size=6),
    )
    def test_is_what_somebody_sees_who_watches_the_clock(
        self, zone: ZoneInfo, day: tuple[int, int, int], minutes: set[int], hours: set[int]
    ) -> None:
        since, until = around(zone, day)
        expression = f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *"
        expected = [*watched(zone, since, until, minutes, hours)]
        assert [*times_between(expression, zone, since, until)] == expected

    @pytest.mark.parametrize("expression", ["* * * * *", "*/7 * * * *", "0 */5 * * *"])
    @pytest.mark.parametrize(("zone", "day"), CHANGES)
    def test_is_the_same_backwards(
        self, zone: ZoneInfo, day: tuple[int, int, int], expression: str
    ) -> None:
        since, until = around(zone, day)
        times = [*times_between(expression, zone, since, until)]
        assert past_times(expression, zone, until, len(times)) == times


class TestBounds:
    SINCE = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)

    def test_of_a_span_are_its_first_moment_and_not_its_last(self) -> None:
        times = times_between("* * * * *", PARIS, self.SINCE, self.SINCE + 2 * MINUTE)
        assert [*times] == [self.SINCE, self.SINCE + MINUTE]

    def test_of_what_comes_and_what_was_leave_now_out(self) -> None:
        assert next(coming_times("* * * * *", PARIS, self.SINCE)) == self.SINCE + MINUTE
        assert past_times("* * * * *", PARIS, self.SINCE, 1) == [self.SINCE - MINUTE]

    def test_may_have_seconds(self) -> None:
        late = self.SINCE + timedelta(seconds=1, microseconds=1)
        assert next(coming_times("* * * * *", PARIS, late)) == self.SINCE + MINUTE
        assert past_times("* * * * *", PARIS, late, 1) == [self.SINCE]

    def test_of_a_rare_day_are_years_away(self) -> None:
        times = islice(coming_times("0 0 29 2 *", PARIS, self.SINCE), 2)
        assert local(times, PARIS) == ["29 00:00 +0100", "29 00:00 +0100"]

    def test_of_a_day_that_never_comes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="not unix-cron"):
            past_times("0 0 30 2 *", PARIS, self.SINCE, 1)

    def test_of_a_month_or_a_weekday_meet_either(self) -> None:
        """Days of the month and days of the week are joined by or, where both are given."""
        times = islice(coming_times("0 0 1 * MON", PARIS, self.SINCE), 4)
        assert [time.astimezone(PARIS).day for time in times] == [19, 26, 1, 2]


class TestShortestInterval:
    @pytest.mark.parametrize(
        ("expression", "zone", "minutes"),
        [
            ("* * * * *", "Etc/UTC", 1),
            ("*/15 * * * *", "Etc/UTC", 15),
            ("1,59 * * * *", "Etc/UTC", 2),
            ("*/7 * * * *", "Etc/UTC", 4),
            ("0 9 * * *", "Etc/UTC", 24 * 60),
            ("0 0 1,31 * *", "Etc/UTC", 24 * 60),
            ("59 23 * * MON,TUE", "Etc/UTC", 24 * 60),
            ("0 0 1 1 *", "Etc/UTC", 365 * 24 * 60),
            ("0 0 29 2 *", "Etc/UTC", 1461 * 24 * 60),
        ],
    )
    def test_is_the_time_between_the_closest_two_runs(
        self, expression: str, zone: str, minutes: int
    ) -> None:
        """R31."""
        found = shortest_interval(expression, parse_zone(zone), datetime(2026, 12, 31, tzinfo=UTC))
        assert found == minutes * MINUTE

    @pytest.mark.parametrize(
        "now", [datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 7, 1, tzinfo=UTC)]
    )
    @pytest.mark.parametrize(
        ("expression", "zone", "minutes"),
        [
            ("30 2 * * *", PARIS, 60),
            ("0 12 * * *", PARIS, 23 * 60),
            ("0 1,3 * * *", NEW_YORK, 60),
            ("*/45 * * * *", LORD_HOWE, 15),
            ("0,50 * * * *", LORD_HOWE, 10),
        ],
    )
    def test_counts_the_changes_of_the_clocks_in_the_year_to_come(
        self, expression: str, zone: ZoneInfo, minutes: int, now: datetime
    ) -> None:
        """R31: an hour that is shown twice or not at all moves two runs together."""
        assert shortest_interval(expression, zone, now) == minutes * MINUTE

    @pytest.mark.parametrize("zone", [parse_zone("Etc/UTC"), PARIS, NEW_YORK])
    def test_counts_a_midnight_between_two_days_late_in_the_year(self, zone: ZoneInfo) -> None:
        """R31: the last time of one day and the first of the next are closer than any others."""
        expression = "*/7 0,2,4,6,8,10,12,14,16,18,20,23 1-31/2 * *"
        now = datetime(2026, 11, 30, tzinfo=UTC)
        assert shortest_interval(expression, zone, now) == 4 * MINUTE


class TestExpression:
    @pytest.mark.parametrize(
        "expression",
        [
            "",
            "* * * *",
            "* * * * * *",
            "every 5 minutes",
            "@daily",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * L * *",
            "* * * * 8",
            "* * * * MON#1",
            "*/0 * * * *",
            "5-1 * * * *",
        ],
    )
    def test_that_is_no_unix_cron_is_refused(self, expression: str) -> None:
        """R30: at once, and not when the first time is asked for."""
        now = datetime(2026, 10, 16, tzinfo=UTC)
        with pytest.raises(ValueError, match="not unix-cron"):
            coming_times(expression, PARIS, now)
        with pytest.raises(ValueError, match="not unix-cron"):
            times_between(expression, PARIS, now, now)


class TestZone:
    @pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "Europe", "\0"])
    def test_that_does_not_exist_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="tz database, such as Etc/UTC"):
            parse_zone(name)

    def test_is_found_by_its_name(self) -> None:
        assert parse_zone("Europe/Paris") == PARIS

    def test_is_missed_with_the_remedy_where_there_is_no_database(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(schedule, "available_timezones", set)
        with pytest.raises(ValueError, match="install tzdata"):
            parse_zone("Mars/Olympus")
