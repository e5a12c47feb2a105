"""The variants to test, read from copier.yml, so that a new choice is tested from its first day."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
import yaml
from jinja2 import meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from tests.rendering import ROOT

Answers = dict[str, str]
Pair = tuple[tuple[str, str], tuple[str, str]]


@cache
def questionnaire() -> dict[str, Any]:
    """What copier.yml says."""
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "copier.yml").read_text())
    return loaded


def questions() -> dict[str, dict[str, Any]]:
    """The questions by name, in the order in which they are asked."""
    return {name: item for name, item in questionnaire().items() if not name.startswith("_")}


def values_of(question: str) -> list[str]:
    """The values that a question offers."""
    choices = questions()[question]["choices"].values()
    return [choice["value"] if isinstance(choice, dict) else choice for choice in choices]


def choice_questions() -> list[str]:
    """The questions that offer values to choose from."""
    return [name for name, item in questions().items() if "choices" in item]


@cache
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        loader=jinja2.FileSystemLoader(ROOT),
        extensions=["jinja2_ansible_filters.AnsibleCoreFiltersExtension"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def jinja_macros(path: str) -> Any:
    """The macros of one of the questionnaire's own files, to call them as it does."""
    return _environment().get_template(path).module


def parsed(path: str) -> nodes.Template:
    """One of the questionnaire's own files, as Jinja reads it."""
    return _environment().parse((ROOT / path).read_text())


@cache
def file_questions() -> list[str]:
    """The questions whose answers select files: those that the map in `_exclude` reads."""
    environment = _environment()
    read = set[str]()
    for pattern in questionnaire()["_exclude"]:
        read |= meta.find_undeclared_variables(environment.parse(pattern))
    return [name for name in choice_questions() if name in read]


@cache
def _compiled(source: str) -> jinja2.Template:
    return _environment().from_string(source)


def is_asked(question: str, answers: Answers) -> bool:
    """Whether a question is asked after these answers."""
    when = str(questions()[question].get("when", True))
    return _compiled(when).render(answers).strip() != "False"


def refusal(question: str, answer: object, answers: Mapping[str, object]) -> str:
    """Why an answer cannot be given beside the others, as a user reads it; `""` if it can."""
    item = questions()[question]
    checks = [item.get("validator", "")] + [
        choice.get("validator", "")
        for choice in item.get("choices", {}).values()
        if isinstance(choice, dict) and choice["value"] == answer
    ]
    said = (_compiled(check).render({**answers, question: answer}) for check in checks)
    return " ".join(" ".join(said).split())


def _is_ruled_out(question: str, answer: str, answers: Answers) -> bool:
    """Whether a choice cannot be made beside the others."""
    return bool(refusal(question, answer, answers))


def _offered(question: str, answers: Answers) -> list[str]:
    """What can be chosen after the answers to the questions before; what is not asked is as is."""
    if not is_asked(question, answers):
        return values_of(question)[:1]
    return [one for one in values_of(question) if not _is_ruled_out(question, one, answers)]


@cache
def _selections() -> dict[str, list[Answers]]:
    """Every combination of choices that can be chosen, by the files that it leaves out."""
    names = choice_questions()
    every = [Answers()]
    for name in names:
        every = [{**one, name: value} for one in every for value in _offered(name, one)]
    found = dict[str, list[Answers]]()
    for answers in every:
        asked = {name: answers[name] for name in names if is_asked(name, answers)}
        found.setdefault(_left_out(tuple(answers[one] for one in file_questions())), []).append(
            asked
        )
    return found


@cache
def _left_out(values: tuple[str, ...]) -> str:
    """The files that the answers to the questions about files leave out, as patterns."""
    answers = dict(zip(file_questions(), values, strict=True))
    patterns = [_compiled(text) for text in questionnaire()["_exclude"]]
    return "\n".join(one.render(answers, _copier_operation="copy") for one in patterns)


def possible() -> list[Answers]:
    """Every combination of choices that can be chosen; without the questions not asked then."""
    return list(itertools.chain(*_selections().values()))


@cache
def variants() -> list[Answers]:
    """A variant for each selection of files, and as many as it takes for every two answers to meet.

    Those with the same files take turns in the answers that only change text.
    """
    return one_of_each(_selections().values(), pairs_in(possible()))


@cache
def pairwise() -> list[Answers]:
    """Few combinations of choices, among which every two answers meet that meet in any."""
    return covering(pairs_in(possible()), possible())


def pairs_of(answers: Answers) -> set[Pair]:
    """Every two answers of a variant."""
    return set(itertools.combinations(sorted(answers.items()), 2))


def covering(missing: set[Pair], every: list[Answers]) -> list[Answers]:
    """Few of these combinations, among which the missing pairs of answers meet."""
    pairs = list(map(pairs_of, every))
    chosen = []
    while missing:
        best = _most_of(missing, pairs)
        chosen.append(every[best])
        missing = missing - pairs[best]
    return chosen


def pairs_in(every: list[Answers], *groups: Sequence[str]) -> set[Pair]:
    """Every two answers that meet in these variants: to the questions of a group, or to any."""
    found = set[Pair]()
    for answers in every:
        for group in groups or [list(answers)]:
            found |= pairs_of({name: answers[name] for name in group if name in answers})
    return found


def every_two(every: list[Answers], *groups: Sequence[str]) -> list[Answers]:
    """Few of these variants, among which every two answers to the questions of a group meet."""
    asked = set(itertools.chain(*groups))
    first = dict[frozenset[tuple[str, str]], Answers]()
    for answers in every:
        first.setdefault(frozenset(item for item in answers.items() if item[0] in asked), answers)
    return covering(pairs_in(every, *groups), list(first.values()))


def one_of_each(sets: Iterable[list[Answers]], missing: set[Pair]) -> list[Answers]:
    """A variant of each of these sets, and as many as it takes for the missing pairs to meet."""
    chosen, every = list[Answers](), list[Answers]()
    for variants in sets:
        chosen.append(variants[_most_of(missing, list(map(pairs_of, variants)))])
        missing = missing - pairs_of(chosen[-1])
        every += variants
    return chosen + covering(missing, every)


def _most_of(missing: set[Pair], pairs: list[set[Pair]]) -> int:
    return max(range(len(pairs)), key=lambda index: len(pairs[index] & missing))


def with_defaults(answers: Answers) -> Answers:
    """The answers of one who gives these and takes every other choice as it is offered."""
    full = Answers()
    for name in choice_questions():
        full[name] = answers.get(name) or default_of(name, full)
    return full


def default_of(name: str, answers: Mapping[str, object]) -> str:
    """The default of a question after the answers to those before it."""
    return _compiled(str(questions()[name]["default"])).render(answers)


def read_by(source: str) -> list[str]:
    """The answers that a default, a condition or a check reads, in the order of the questions."""
    read = meta.find_undeclared_variables(_environment().parse(source))
    return [name for name in questions() if name in read]


def impossible_pairs() -> list[Answers]:
    """Every choice, and every two, that cannot be made while all others are taken as offered."""
    changes = [{name: value} for name in choice_questions() for value in values_of(name)]
    alone = [change for change in changes if _is_impossible(with_defaults(change))]
    pairs = [
        one | other
        for one, other in itertools.combinations(changes, 2)
        if one.keys() != other.keys() and one not in alone and other not in alone
    ]
    return alone + [pair for pair in pairs if _is_impossible(with_defaults(pair))]


def _is_impossible(answers: Answers) -> bool:
    return any(
        _is_ruled_out(question, answer, answers)
        for question, answer in answers.items()
        if is_asked(question, answers)
    )


def name_of(answers: Answers) -> str:
    """A test id: what is not as offered, such as `framework=flask,auth=verify`."""
    full = with_defaults(answers)
    return ",".join(
        f"{name}={value}" for name, value in answers.items() if value != default_of(name, full)
    )


def mapped_paths() -> list[str]:
    """The paths that the map in `_exclude` names, of all variants."""
    lines = "\n".join(questionnaire()["_exclude"]).splitlines()
    return [line for line in lines if not line.startswith("{%")]
