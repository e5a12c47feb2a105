"""What a record keeps of how a run ended (R20, R23)."""

import pytest

from app.dedup import GiveUp
from app.dedup.result import kept_reason, reason_of


def test_a_reason_that_is_no_unicode_is_kept_as_far_as_it_is() -> None:
    """R23: its record can be written."""
    assert reason_of(GiveUp("half of \ud83d")) == {"reason": "half of ?"}


@pytest.mark.parametrize("result", [None, {}, {"reason": 5}, {"other": "words"}])
def test_a_record_without_a_reason_has_none(result: dict[str, object] | None) -> None:
    """R17: whoever wrote it."""
    assert kept_reason(result) is None
