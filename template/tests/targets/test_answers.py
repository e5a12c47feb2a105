"""What an answer means for the run (R22, R23)."""

import pytest

from app.calls.answers import Refused, already_exists, check, message_of, understood
from app.calls.client import is_loopback
from app.calls.sending import Answer
from app.dedup import GiveUp, OutcomeUnknown

ERROR = b'{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no\\nsuch thing"}}'


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_success_is_one(status: int) -> None:
    check(Answer(status, b""))
    assert understood(Answer(status, b'{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 405, 410, 412, 413, 422])
def test_a_definite_refusal_gives_up_with_the_apis_message(status: int) -> None:
    with pytest.raises(GiveUp, match=f"status {status}: no such thing"):
        understood(Answer(status, ERROR))


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_that_iam_may_still_lift_is_a_failure(status: int) -> None:
    with pytest.raises(Refused, match="no such thing"):
        understood(Answer(status, ERROR))


@pytest.mark.parametrize("status", [100, 408, 409, 429, 500, 502, 503, 504, 599, 600])
def test_everything_else_is_unknown(status: int) -> None:
    with pytest.raises(OutcomeUnknown, match=f"status {status}"):
        understood(Answer(status, ERROR))


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"\xff", b"[" * 100_000])
def test_a_success_that_cannot_be_read_is_unknown(body: bytes) -> None:
    with pytest.raises(OutcomeUnknown, match="no JSON object"):
        understood(Answer(200, body))


def test_a_conflict_is_told_from_an_id_that_is_known() -> None:
    assert already_exists(Answer(409, b'{"error": {"status": "ALREADY_EXISTS"}}'))
    assert already_exists(Answer(409, b'{"error": {"errors": [{"reason": "duplicate"}]}}'))
    assert not already_exists(Answer(409, b'{"error": {"status": "ABORTED"}}'))
    assert not already_exists(Answer(400, b'{"error": {"status": "ALREADY_EXISTS"}}'))
    assert not already_exists(Answer(409, b'{"error": "ALREADY_EXISTS"}'))


def test_a_message_is_short_and_printable() -> None:
    """R39."""
    assert message_of(Answer(502, b"\x1b[31m" + b"x" * 9000)).isprintable()
    assert len(message_of(Answer(502, b"x" * 9000))) < 600


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://localhost", True),
        ("https://localhost.example.com", False),
        ("https://127.0.0.1.example.com", False),
        ("https://run.googleapis.com", False),
    ],
)
def test_only_this_machine_is_called_without_credentials(url: str, local: bool) -> None:
    assert is_loopback(url) == local
