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

-- Microseconds as an RFC 3339 time.
local function utc(micros)
  local seconds = math.floor(micros / 1000000)
  local days, year, month = math.floor(seconds / 86400), 1970, 1
  local function february()
    return (year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)) and 29 or 28
  end
  while days >= 337 + february() do
    days, year = days - 337 - february(), year + 1
  end
  local lengths = {31, february(), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
  while days >= lengths[month] do
    days, month = days - lengths[month], month + 1
  end
  local clock = seconds % 86400
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%06dZ', year, month, days + 1,
    math.floor(clock / 3600), math.floor(clock / 60) % 60, clock % 60, micros % 1000000)
end

local function write(...)
  redis.call('HSET', key, 'written_at', digits(now), ...)
end

local function lease(seconds)
  write('lease_seconds', seconds, 'lease_expires', utc(now + seconds * 1000000))
end

-- Keep the record for `retention` seconds after now or `schedule`, or until the year 10000.
local function keep(schedule, retention)
  local last = math.min(math.max(schedule, now) + retention * 1000000, 253402300799000000)
  write('expire_at', utc(last))
  redis.call('PEXPIREAT', key, digits(last / 1000))
end

-- The record is {} where there is none, and nil where something else has its key.
local function answer(done)
  kind = redis.call('TYPE', key).ok
  local record = kind == 'hash' and redis.call('HGETALL', key) or kind == 'none' and {}
  return {done, now, record}
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
            version too.
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
