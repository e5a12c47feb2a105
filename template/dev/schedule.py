"""The scheduled times of a unix-cron expression, as Cloud Scheduler counts them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

_FIELD = re.compile(r"(\*|[0-9]+|[A-Z]{3})(-([0-9]+|[A-Z]{3}))?(/[0-9]+)?")


def parse_zone(name: str) -> ZoneInfo:
    """Return the time zone of a tz database name.

    Raises:
        ValueError: there is no such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is no name in the tz database, such as Etc/UTC") from error


def past_times(expression: str, zone: ZoneInfo, now: datetime, count: int) -> list[datetime]:
    """Return the latest `count` scheduled times before `now`, oldest first, in UTC.

    Raises:
        ValueError: `expression` is not unix-cron, or has not so many times.
    """
    times = list(islice(_times(expression, zone, now, reverse=True), count))
    if len(times) < count:
        raise ValueError(f"{expression!r} has only {len(times)} times in the past, not {count}")
    return times[::-1]


def coming_times(expression: str, zone: ZoneInfo, now: datetime) -> Iterator[datetime]:
    """Yield the scheduled times after `now`, in UTC.

    Raises:
        ValueError: `expression` is not unix-cron.
    """
    return _times(expression, zone, now, reverse=False)


def _times(expression: str, zone: ZoneInfo, now: datetime, *, reverse: bool) -> Iterator[datetime]:
    fields = expression.split()
    terms = [term for field in fields for term in field.split(",")]
    if len(fields) != 5 or not all(_FIELD.fullmatch(term) for term in terms):
        raise ValueError(
            f"{expression!r} is not unix-cron: five fields (minute hour day month weekday),"
            " such as '*/15 * * * *'"
        )
    try:
        times = CronSim(expression, now.astimezone(zone), reverse=reverse)
    except CronSimError as error:
        raise ValueError(f"{expression!r} is not unix-cron: {error}") from error
    return (time.astimezone(UTC) for time in times)
