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
local key, time = KEYS[1], redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- The record as it was found: {} where there is none, false where something else has its key.
local found = redis.pcall('HGETALL', key)
if found.err then
  if not found.err:find('WRONGTYPE') then return found end
  found = false
end
local fields = {}
for i = 1, found and #found or 0, 2 do fields[found[i]] = found[i + 1] end

local function number(name, most)
  local text = fields[name]
  local value = text and text:match('^%d+%.?%d*$') and tonumber(text)
  return value and value <= most and value
end

local function ours()
  return fields.status == 'in_progress' and fields.attempt_id == ARGV[1]
end

-- Whether ARGV, from `first` on, is the whole record: names and values in turns.
local function same(first)
  if not found or #found == 0 or #found ~= #ARGV - first + 1 then return false end
  for i = first, #ARGV, 2 do
    if fields[ARGV[i]] ~= ARGV[i + 1] then return false end
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

-- What is written goes to the server at once, when all of it is known.
local written = {}
local function write(...)
  for _, text in ipairs({...}) do written[#written + 1] = text end
end

local function lease(seconds)
  write('lease_seconds', seconds, 'lease_expires', utc(now + seconds * 1000000))
end

local function save()
  fields.written_at = digits(now)
  redis.call('HSET', key, 'written_at', fields.written_at, unpack(written))
end

-- Keep the record for `retention` seconds after now or `schedule`, or until the year 10000.
local function save_for(retention, schedule)
  local last = math.min(math.max(schedule, now) + retention * 1000000, 253402300799000000)
  write('expire_at', utc(last))
  save()
  redis.call('PEXPIREAT', key, digits(last / 1000))
end

-- The record as it was found, and whether it is what the script is for.
local function answer(done)
  return {done, now, found}
end

-- Of one's own claim, only what one does not know: it is an answer of each claim and renewal.
local function done()
  return {1, now, fields.written_at or '', fields.fence or '', fields.recovered or ''}
end
"""
"""What all scripts begin with. KEYS: the record's key."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a script did, and the record as it then was.

    Attributes:
        done: The script did what it is for.
        stamp: That of the record. Its version is the content, so that a person's edit is a new
            version too.
        read_at: The server's time.
        content: Names and values of the record's fields in turns, as they are stored. None where
            something else has the key; of one's own claim, what one does not know.
        problem: What went wrong with an earlier try. Its answer may be what got lost.
    """

    run_id: str
    done: bool
    stamp: Stamp
    read_at: datetime
    content: tuple[bytes, ...] | None
    fields: Mapping[str, str]
    problem: StoreError | None = None

    @property
    def recovered(self) -> bool:
        """Whether the record's claim was a takeover."""
        return self.fields.get("recovered") == "true"

    @property
    def record(self) -> Record:
        """The record, without any field where there is none, or none that can be read."""
        return Record.parse(self.run_id, _typed(self.fields), self.stamp, self.read_at)

    @property
    def found(self) -> Record | None:
        """The record, or None."""
        return None if self.content == () else self.record


class Script:
    """One operation on one record, as Lua that follows `_LUA`."""

    def __init__(self, text: str) -> None:
        self.text = _LUA + text
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def read(self, run_id: str, reply: Any) -> Answer:
        """Return what the script answered about the record of `run_id`."""
        done, now, *told = reply
        content: tuple[bytes, ...] | None
        if len(told) == 1:
            content = None if told[0] is None else tuple(told[0])
        else:
            content = (b"written_at", told[0], b"fence", told[1], b"recovered", told[2])
        texts = [each.decode(errors="replace") for each in content or ()]
        fields = dict(zip(texts[::2], texts[1::2], strict=True))
        written = _number(fields.get("written_at"), most=1e17)
        fence = _number(fields.get("fence"), most=9e15)
        version = NO_RECORD if content is None else content
        stamp = Stamp(version, None if written is None else _moment(written), int(fence or 0))
        return Answer(run_id, bool(done), stamp, _moment(now), content, fields)


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
