"""The scheduled times of a unix-cron expression, as Cloud Scheduler counts them: by the wall clock.

Where a time zone changes to daylight saving time and back, some wall times do not exist and some
exist twice. A wall time that does not exist is no run; one that exists twice is two runs, at two
instants. Source: Cloud Scheduler, "Cron job format and time zone", which says that it runs on wall
clock time, and leaves open what it does with a time of either kind.
"""

import re
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import dropwhile, islice, pairwise, takewhile
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

_FIELD: Final = re.compile(r"(\*|[0-9]+|[A-Z]{3})(-([0-9]+|[A-Z]{3}))?(/[0-9]+)?")
_LONGEST_SHIFT: Final = timedelta(days=1)
_DAY: Final = timedelta(days=1)
_YEAR: Final = 366 * _DAY
_MANY: Final = 1500  # More than the minutes of a day.


def parse_zone(name: str) -> ZoneInfo:
    """Return the time zone of a tz database name.

    Raises:
        ValueError: there is no such zone, or this machine has no tz database.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if not available_timezones():
            raise ValueError("this machine has no tz database: install tzdata") from error
        raise ValueError(f"{name!r} is no name in the tz database, such as Etc/UTC") from error


def past_times(expression: str, zone: ZoneInfo, now: datetime, count: int) -> list[datetime]:
    """Return the latest `count` scheduled times before `now`, oldest first, in UTC.

    Raises:
        ValueError: `expression` is not unix-cron, or has not so many times.
    """
    times = dropwhile(lambda time: time >= now, _times(expression, zone, now, reverse=True))
    latest = list(islice(times, count))
    if len(latest) < count:
        raise ValueError(f"{expression!r} has only {len(latest)} times in the past, not {count}")
    return latest[::-1]


def coming_times(expression: str, zone: ZoneInfo, now: datetime) -> Iterator[datetime]:
    """Yield the scheduled times after `now`, in UTC.

    Raises:
        ValueError: `expression` is not unix-cron.
    """
    return dropwhile(lambda time: time <= now, _times(expression, zone, now, reverse=False))


def times_between(
    expression: str, zone: ZoneInfo, since: datetime, until: datetime
) -> Iterator[datetime]:
    """Yield the scheduled times with since <= time < until, in UTC.

    Raises:
        ValueError: `expression` is not unix-cron.
    """
    times = dropwhile(lambda time: time < since, _times(expression, zone, since, reverse=False))
    return takewhile(lambda time: time < until, times)


def shortest_interval(expression: str, zone: ZoneInfo, now: datetime) -> timedelta:
    """Return the shortest time between two scheduled times of the year that follows `now`.

    Where fewer than two of them are in that year, it is the time between the next two. Changes of
    the clocks count: they bring the times of a day closer together, or further apart.

    Raises:
        ValueError: `expression` is not unix-cron.
    """
    end = now + _YEAR
    upcoming: list[datetime] = []
    for time in islice(coming_times(expression, zone, now), _MANY):
        upcoming.append(time)
        if time >= end and len(upcoming) > 1:
            break
    stretches = [upcoming if len(upcoming) == 2 or upcoming[-1] < end else upcoming[:-1]]
    if upcoming[-1] < end:
        # So many times show every distance but those over a midnight between two days with times,
        # which need not come early in the year, and those that a change of the clocks makes.
        stretches += [
            list(times_between(expression, zone, day, day + 2 * _DAY))
            for day in islice(_days_in_a_row(expression, zone, now, end), 1)
        ]
        stretches += [
            list(times_between(expression, zone, day - _DAY, day + 2 * _DAY))
            for day in _days(now, end)
            if day.astimezone(zone).utcoffset() != (day + _DAY).astimezone(zone).utcoffset()
        ]
    return min(later - one for times in stretches for one, later in pairwise(times))


def _days_in_a_row(
    expression: str, zone: ZoneInfo, start: datetime, end: datetime
) -> Iterator[datetime]:
    """Yield the beginnings of the days that have times, as has the day after them."""
    days = " ".join(["0 0", *expression.split()[2:]])
    for one, later in pairwise(times_between(days, ZoneInfo("UTC"), start, end)):
        if later - one == _DAY:
            yield one.replace(tzinfo=zone).astimezone(UTC)


def _days(start: datetime, end: datetime) -> Iterator[datetime]:
    while start < end:
        yield start
        start += _DAY


def is_repeated(time: datetime, zone: ZoneInfo) -> bool:
    """Tell whether the clocks of `zone` show the wall time of `time` twice."""
    return len(_instants(time.astimezone(zone).replace(tzinfo=None, fold=0), zone)) > 1


def _times(
    expression: str, zone: ZoneInfo, start: datetime, *, reverse: bool
) -> Iterator[datetime]:
    """Return the times from some way before `start` on, in their order, or backwards."""
    step = -1 if reverse else 1
    wall = start.astimezone(zone).replace(tzinfo=None, fold=0, second=0, microsecond=0)
    # A shift of the clocks lets wall times before this one come after it.
    walls = _walls(expression, wall - step * _LONGEST_SHIFT, reverse=reverse)
    return _in_order(walls, zone, step)


def _walls(expression: str, start: datetime, *, reverse: bool) -> CronSim:
    """Return the wall times of an expression, which know of no time zone."""
    fields = expression.split()
    terms = [term for field in fields for term in field.split(",")]
    if len(fields) != 5 or not all(_FIELD.fullmatch(term) for term in terms):
        raise ValueError(
            f"{expression!r} is not unix-cron: five fields (minute hour day month weekday),"
            " such as '*/15 * * * *'"
        )
    try:
        return CronSim(expression, start, reverse=reverse)
    except CronSimError as error:
        raise ValueError(f"{expression!r} is not unix-cron: {error}") from error


def _in_order(walls: CronSim, zone: ZoneInfo, step: int) -> Iterator[datetime]:
    """Yield the instants of wall times; those of a repeated hour come after its first pass."""
    second_pass = deque[datetime]()
    for wall in walls:
        instants = _instants(wall, zone)[::step]
        while instants and second_pass and (instants[0] - second_pass[0]) * step > timedelta():
            yield second_pass.popleft()
        yield from instants[:1]
        second_pass.extend(instants[1:])
    yield from second_pass


def _instants(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """Return when the clocks of `zone` show a wall time: never, once or twice."""
    readings = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return sorted({time for time in readings if time.astimezone(zone).replace(tzinfo=None) == wall})
