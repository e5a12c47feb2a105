"""What a record keeps of how a run ended: the job's result, or why it gave up."""

import json
from collections.abc import Mapping
from typing import Final

from app.dedup.attempt import GiveUp
from app.dedup.record import RESULT_LIMIT
from app.logs import Log

REASON_LIMIT: Final = 500
"""So many bytes of a reason are kept at most, which leaves room for the escapes of JSON."""

_log = Log(__name__)


def kept_of(result: object) -> str | None:
    """Return the JSON of a result worth keeping, or None (R20)."""
    if result is None:
        return None
    try:
        if not isinstance(result, dict):
            raise TypeError(f"it is a {type(result).__name__}, not a dict")
        kept = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(kept.encode())
        if size > RESULT_LIMIT:
            raise ValueError(f"it has {size} bytes of JSON; {RESULT_LIMIT} are kept at most")
    except Exception as error:
        _log.warning("The job's result is not kept.", error=error)
        return None
    return kept


def words_of(error: Exception) -> str:
    """Return what an exception says, in one line of at most REASON_LIMIT bytes."""
    try:
        words = " ".join(str(error).split()).encode(errors="replace")
    except Exception:
        return ""
    return words[:REASON_LIMIT].decode(errors="ignore")


def reason_of(error: GiveUp) -> Mapping[str, object] | None:
    """Return what is kept as the result of a run that failed for good (R23)."""
    words = words_of(error)
    return {"reason": words} if words else None


def kept_reason(result: Mapping[str, object] | None) -> str | None:
    """Return why a run failed for good, from what its record keeps."""
    reason = (result or {}).get("reason")
    return reason if isinstance(reason, str) else None
