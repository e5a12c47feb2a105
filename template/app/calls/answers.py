"""What an answer means for the run: the one classification for all targets (R22, R23)."""

import json

from app.calls.sending import Answer
from app.dedup import GiveUp, OutcomeUnknown
from app.dedup.delivery import shown

Json = dict[str, object]
"""A JSON object."""

_UNCLEAR = frozenset({408, 409, 429})
_TEMPORARY = frozenset({401, 403})
_LONGEST_MESSAGE = 500


class Refused(Exception):
    """Nothing was started, and a retry can help, as it does right after a change in IAM."""


def understood(answer: Answer) -> Json:
    """Return the JSON object of a success; what is no success is an exception.

    Raises:
        Refused: 401 or 403.
        GiveUp: any other definite refusal, with the API's message.
        OutcomeUnknown: nobody can tell whether it took effect.
    """
    check(answer)
    body = json_of(answer)
    if body is None:
        raise OutcomeUnknown(f"status {answer.status} with a body that is no JSON object")
    return body


def check(answer: Answer) -> None:
    """Return if the answer is a success, whatever its body is; raise as `understood` does."""
    status = answer.status
    if 200 <= status <= 299:
        return
    problem = f"status {status}: {message_of(answer)}"
    if status in _TEMPORARY:
        raise Refused(problem)
    if status in _UNCLEAR or not 300 <= status <= 499:
        raise OutcomeUnknown(problem)
    raise GiveUp(problem)


def already_exists(answer: Answer) -> bool:
    """Tell whether the API knows the request's id already, which it says with 409.

    A 409 can mean a conflict between requests, too.
    """
    error = _error_of(answer)
    reasons = error.get("errors")
    listed = reasons if isinstance(reasons, list) else []
    return answer.status == 409 and (
        error.get("status") == "ALREADY_EXISTS"
        or any(isinstance(each, dict) and each.get("reason") == "duplicate" for each in listed)
    )


def json_of(answer: Answer) -> Json | None:
    """Return the body if it is a JSON object."""
    try:
        body = json.loads(answer.body, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def message_of(answer: Answer) -> str:
    """Return what an API says about its error, or the beginning of what came instead."""
    message = _error_of(answer).get("message")
    if isinstance(message, str):
        return " ".join(message.split())[:_LONGEST_MESSAGE]
    return shown(answer.body.decode(errors="replace"))


def _error_of(answer: Answer) -> Json:
    error = (json_of(answer) or {}).get("error")
    return error if isinstance(error, dict) else {}
