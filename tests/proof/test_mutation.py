"""The list of weaknesses, and the tool that puts them back."""

from dataclasses import replace
from typing import Final

import pytest

from proof.mutation import PAGE, ROOT, Mutant, Weaknesses, caught

WEAKNESSES: Final = Weaknesses.read()
SOME: Final = WEAKNESSES.mutants[::9]
"""A selection: `make mutation-proof` has them all."""


def test_has_every_weakness() -> None:
    in_code = {each.row for each in WEAKNESSES.mutants}
    elsewhere = {each.row for each in WEAKNESSES.elsewhere}
    assert in_code | elsewhere == set(range(1, 31))
    assert not in_code & elsewhere


def test_has_a_page_that_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == WEAKNESSES.page(), "run `make mutation-page`"


@pytest.mark.parametrize("mutant", WEAKNESSES.mutants, ids=lambda mutant: mutant.fault)
def test_finds_the_place_of(mutant: Mutant) -> None:
    text = (ROOT / "template" / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.new != mutant.old


@pytest.mark.slow
@pytest.mark.parametrize("mutant", SOME, ids=lambda mutant: mutant.fault)
def test_is_caught(mutant: Mutant) -> None:
    assert caught(mutant)


TESTED: Final = Mutant(
    row=14,
    weakness="none",
    fault="a harmless change",
    file="app/dedup/delivery.py",
    old="    array = json.dumps(",
    new="    array = json.dumps(  # a comment\n",
    test="tests/test_delivery.py::TestRunId::test_never_changes",
)


@pytest.mark.slow
def test_does_not_take_a_harmless_change_for_caught() -> None:
    with pytest.raises(ValueError, match="does not catch it: it passed"):
        caught(TESTED)


@pytest.mark.slow
def test_does_not_take_a_typing_error_for_caught() -> None:
    with pytest.raises(ValueError, match=r"does not catch it: NameError"):
        caught(replace(TESTED, new="    array = jsn.dumps("))


@pytest.mark.slow
def test_does_not_take_a_file_that_is_no_python_for_caught() -> None:
    with pytest.raises(ValueError, match="did not run its tests"):
        caught(replace(TESTED, new="    array = json.dumps(("))


def test_stops_where_its_place_is_gone() -> None:
    with pytest.raises(ValueError, match="its old text occurs 0 times in template/app/dedup"):
        caught(replace(TESTED, old="no such text"))
