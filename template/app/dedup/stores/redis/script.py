"""What the Lua scripts of a Redis store have in common: how they begin and what they answer."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from app.dedup.record import NO_RECORD, Record, Stamp
from app.dedup.store import StoreError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_LUA: Final = """
local key, kind = KEYS[1], redis.call('TYPE', KEYS[1]).ok
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function field(name)
  return kind == 'hash' and redis.call('HGET', key, name)
end

local function number(name, most)
  local text = field(name)
  local value = text and text:match('^%d+%.?%d*$') and tonumber(text)
  return value and value <= most and value
end

local function ours()
  return field('status') == 'in_progress' and field('attempt_id') == ARGV[1]
end

-- Whether ARGV, from `first` on, is the whole record: names and values in turns.
local function same(first)
  if kind ~= 'hash' or #ARGV - first + 1 ~= 2 * redis.call('HLEN', key) then return false end
  for i = first, #ARGV, 2 do
    if field(ARGV[i]) ~= ARGV[i + 1] then return false end
  end
  return true
end

local function digits(value)
  return string.format('%.0f', value)
end

-- Microseconds as an RFC 3339 time. The calendar is counted from March of the year 0, so that
-- a leap day is its year's last, in cycles of 400 years.
local function utc(micros)
  local floor, seconds = math.floor, math.floor(micros / 1000000)
  local days = floor(seconds / 86400) + 719468
  local cycle = floor(days / 146097)
  local day = days - cycle * 146097
  local year = floor((day - floor(day / 1460) + floor(day / 36524) - floor(day / 146096)) / 365)
  day = day - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * day + 2) / 153)
  day = day - floor((153 * month + 2) / 5) + 1
  year = year + cycle * 400 + (month < 10 and 0 or 1)
  month = month < 10 and month + 3 or month - 9
  local clock = seconds % 86400
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%06dZ', year, month, day,
    floor(clock / 3600), floor(clock / 60) % 60, clock % 60, micros % 1000000)
end

-- What is written goes to the server at once, when it is to be kept or answered.
local written = {}
local function write(...)
  for _, text in ipairs({...}) do written[#written + 1] = text end
end

local function save()
  if #written > 0 then redis.call('HSET', key, 'written_at', digits(now), unpack(written)) end
  written = {}
end

local function lease(seconds)
  write('lease_seconds', seconds, 'lease_expires', utc(now + seconds * 1000000))
end

-- Keep the record for `retention` seconds after now or `schedule`, or until the year 10000.
local function keep(schedule, retention)
  local last = math.min(math.max(schedule, now) + retention * 1000000, 253402300799000000)
  write('expire_at', utc(last))
  save()
  redis.call('PEXPIREAT', key, digits(last / 1000))
end

-- The record is {} where there is none, and nil where something else has its key.
local function answer(done)
  save()
  kind = redis.call('TYPE', key).ok
  local record = kind == 'hash' and redis.call('HGETALL', key) or kind == 'none' and {}
  return {done, now, record}
end

-- Of one's own record, only what one does not know: it is an answer of each claim and renewal.
local function done()
  save()
  local names = {'written_at', 'fence', 'recovered'}
  local texts, record = redis.call('HMGET', key, unpack(names)), {}
  for i, name in ipairs(names) do
    record[2 * i - 1], record[2 * i] = name, texts[i] or ''
  end
  return {1, now, record}
end
"""
"""What all scripts begin with. KEYS: the record's key."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a script did, and the record as it then was.

    Attributes:
        done: The script did what it is for.
        record: Without any field where there is none, or where something else has its key
            (`Record.is_none`). Its version is its content, so that a person's edit is a new
            version too. Where the script did what it is for on one's own claim, only its stamp.
        exists: Something has the key.
        recovered: The record's claim was a takeover.
        content: Names and values of the record's fields in turns, as they are stored.
        problem: What went wrong with an earlier try. Its answer may be what got lost.
    """

    done: bool
    record: Record
    exists: bool
    recovered: bool
    content: tuple[bytes, ...]
    problem: StoreError | None = None

    @property
    def found(self) -> Record | None:
        """The record, or None."""
        return self.record if self.exists else None


class Script:
    """One operation on one record, as Lua that follows `_LUA`."""

    def __init__(self, text: str) -> None:
        self.text = _LUA + text
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def read(self, run_id: str, reply: Any) -> Answer:
        """Return what the script answered about the record of `run_id`."""
        done, now, found = reply
        content = tuple(found or ())
        texts = [each.decode(errors="replace") for each in content]
        fields = dict(zip(texts[::2], texts[1::2], strict=True))
        written = _number(fields.get("written_at"), most=1e17)
        fence = _number(fields.get("fence"), most=9e15)
        version = NO_RECORD if found is None else content
        stamp = Stamp(version, None if written is None else _moment(written), int(fence or 0))
        return Answer(
            done=bool(done),
            record=Record.parse(run_id, _typed(fields), stamp, _moment(now)),
            exists=found != [],
            recovered=fields.get("recovered") == "true",
            content=content,
        )


def micros(moment: datetime) -> str:
    """Return microseconds since 1970, as the scripts count time."""
    return str((moment - _EPOCH) // timedelta(microseconds=1))


def _typed(fields: Mapping[str, str]) -> dict[str, object]:
    lease = _number(fields.get("lease_seconds"), most=1e9)
    forced = {"true": True, "false": False}.get(fields.get("forced", ""))
    return {**fields, "lease_seconds": lease, "forced": forced}


def _number(text: str | None, *, most: float) -> float | None:
    """Read a number exactly as the scripts do."""
    if text is None or not re.fullmatch(r"\d+\.?\d*", text, re.ASCII):
        return None
    return value if (value := float(text)) <= most else None


def _moment(number: float) -> datetime:
    return _EPOCH + timedelta(microseconds=number)
