"""The answers that this project was made with make sense together."""

from zoneinfo import available_timezones

from app import defaults


def test_time_zone_is_in_the_tz_database() -> None:
    """R30: the questionnaire can check the form of a name only."""
    assert defaults.TIME_ZONE in available_timezones()
