"""The simulated Cloud Scheduler keeps the times of the real one."""

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from app.backoff import RetryConfig, gap, next_gap, retry_starts
from app.schedule import coming_times, parse_zone, past_times

NOW = datetime(2026, 10, 16, 12, 7, 30, tzinfo=UTC)


class TestGaps:
    @pytest.mark.parametrize(
        ("min_backoff", "max_doublings", "recorded"),
        [(2.0, 3, [2.0, 4.0, 8.0, 16.0, 18.0]), (4.0, 1, [4.0, 8.0, 10.0, 12.0])],
    )
    def test_are_those_recorded_in_production(
        self, min_backoff: float, max_doublings: int, recorded: list[float]
    ) -> None:
        config = RetryConfig(5, min_backoff, max_doublings=max_doublings)

        assert [gap(config, retry + 1) for retry in range(len(recorded))] == recorded

    def test_never_exceed_the_longest_back_off(self) -> None:
        config = RetryConfig(5, min_backoff=10.0, max_backoff=30.0)

        assert [gap(config, retry) for retry in (1, 2, 3, 4, 400)] == [10, 20, 30, 30, 30]

    def test_stay_finite_after_many_retries(self) -> None:
        assert gap(RetryConfig(max_retry_duration=1e9, max_doublings=2000), 5000) == 3600.0


class TestRetries:
    def test_are_as_many_as_the_retry_count(self) -> None:
        assert list(retry_starts(RetryConfig(3, min_backoff=1.0))) == [1, 3, 7]

    def test_are_none_without_a_count_or_a_duration(self) -> None:
        assert list(retry_starts(RetryConfig())) == []

    def test_start_after_the_attempt_before_has_failed(self) -> None:
        assert list(retry_starts(RetryConfig(2, min_backoff=1.0), attempt_seconds=10.0)) == [11, 23]

    def test_go_on_until_the_duration_where_the_count_is_zero(self) -> None:
        assert list(retry_starts(RetryConfig(0, max_retry_duration=30.0))) == [5, 15]

    def test_go_on_until_both_limits_are_reached(self) -> None:
        """Recorded: three retries and 20 s made four attempts, the last one after 20 s."""
        assert list(retry_starts(RetryConfig(3, max_retry_duration=20.0))) == [5, 15, 35]
        assert len(list(retry_starts(RetryConfig(1, max_retry_duration=200.0)))) > 1

    def test_end_with_no_gap(self) -> None:
        assert next_gap(RetryConfig(1), retry=2, elapsed=10.0) is None


class TestRetryConfig:
    @pytest.mark.parametrize("count", [-1, 6])
    def test_refuses_a_retry_count_that_cloud_scheduler_refuses(self, count: int) -> None:
        with pytest.raises(ValueError, match="0 to 5"):
            RetryConfig(count)

    def test_refuses_a_negative_back_off(self) -> None:
        with pytest.raises(ValueError, match="min backoff must not be negative"):
            RetryConfig(min_backoff=-1.0)

    def test_refuses_a_least_back_off_above_the_longest(self) -> None:
        with pytest.raises(ValueError, match="longer than max backoff"):
            RetryConfig(min_backoff=60.0, max_backoff=30.0)

    def test_replaces_zeros_as_cloud_scheduler_does(self) -> None:
        assert RetryConfig(1, 0.0, 0.0, 0) == RetryConfig(1, 5.0, 3600.0, 5)


class TestSchedule:
    def test_gives_the_latest_past_times_oldest_first(self) -> None:
        times = past_times("*/15 * * * *", ZoneInfo("Etc/UTC"), NOW, 2)

        assert [time.isoformat() for time in times] == [
            "2026-10-16T11:45:00+00:00",
            "2026-10-16T12:00:00+00:00",
        ]

    def test_gives_the_times_to_come(self) -> None:
        times = coming_times("*/15 * * * *", ZoneInfo("Etc/UTC"), NOW)

        assert [time.minute for time in islice(times, 3)] == [15, 30, 45]

    def test_counts_in_the_time_zone_of_the_job(self) -> None:
        (time,) = past_times("0 5 * * *", parse_zone("America/Los_Angeles"), NOW, 1)

        assert time == datetime(2026, 10, 16, 12, 0, tzinfo=UTC)

    def test_gives_both_instants_of_a_wall_time_that_repeats(self) -> None:
        after = datetime(2026, 11, 1, 8, 15, tzinfo=UTC)
        times = coming_times("*/30 * * * *", parse_zone("America/Los_Angeles"), after)

        assert [time.hour for time in islice(times, 4)] == [8, 9, 9, 10]

    @pytest.mark.parametrize(
        "expression",
        ["every 5 minutes", "* * * *", "* * * * * *", "61 * * * *", "0 0 L * *", "0 0 * * 5#2", ""],
    )
    def test_refuses_what_is_not_unix_cron(self, expression: str) -> None:
        """R30."""
        with pytest.raises(ValueError, match="not unix-cron"):
            past_times(expression, ZoneInfo("Etc/UTC"), NOW, 1)

    @pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", ""])
    def test_refuses_a_zone_that_does_not_exist(self, name: str) -> None:
        with pytest.raises(ValueError, match="tz database"):
            parse_zone(name)
