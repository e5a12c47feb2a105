"""The variants to test, read from copier.yml, so that a new choice is tested from its first day."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from release_contract import working_tree
from tests.rendering import ROOT
from versions import Version

Answers = dict[str, str]
Pair = tuple[tuple[str, str], tuple[str, str]]


@cache
def version() -> Version:
    """What stands here, as the release contract reads it."""
    return working_tree(ROOT)


def questionnaire() -> dict[str, Any]:
    """What copier.yml says."""
    return version().settings


def questions() -> dict[str, dict[str, Any]]:
    """The questions by name, in the order in which they are asked."""
    return version().questions


def values_of(question: str) -> list[str]:
    """The values that a question offers."""
    return list(map(str, version().values(question)))


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


def parsed(text: str) -> nodes.Template:
    """A text in Jinja, as its parts."""
    return _environment().parse(text)


def names_in(text: str) -> set[str]:
    """The questions whose answers a text in Jinja reads."""
    return meta.find_undeclared_variables(parsed(text)) & questions().keys()


@cache
def _compiled(text: str) -> jinja2.Template:
    return _environment().from_string(text)


@cache
def file_questions() -> list[str]:
    """The questions whose answers select files: those that the map in `_exclude` reads."""
    read = version().read_by("\n".join(questionnaire()["_exclude"]))
    return [name for name in choice_questions() if name in read]


def is_asked(question: str, answers: Answers) -> bool:
    """Whether a question is asked after these answers."""
    return version().is_asked(question, answers)


@cache
def defaults() -> dict[str, Any]:
    """The answers of one who takes every one as it is offered."""
    full = dict[str, Any]()
    for name, item in questions().items():
        offered = _compiled(str(item["default"])).render(full).strip()
        full[name] = int(offered) if item["type"] == "int" else offered
    return full


def refusal(question: str, answer: object, answers: Mapping[str, object] | None = None) -> str:
    """Why an answer cannot be given beside the others, as a user reads it; `""` if it can.

    Without `answers`, the others are as offered.
    """
    others = defaults() if answers is None else answers
    item = questions()[question]
    checks = [item.get("validator", "")] + [
        choice.get("validator", "")
        for choice in item.get("choices", {}).values()
        if isinstance(choice, dict) and choice["value"] == answer
    ]
    said = (_compiled(check).render({**others, question: answer}) for check in checks)
    return " ".join(" ".join(said).split())


def _is_ruled_out(question: str, answer: str, answers: Answers) -> bool:
    """Whether a choice cannot be made beside the others."""
    return not version().accepts(question, answer, answers)


def _offered(question: str, answers: Answers) -> list[str]:
    """What can be chosen after the answers to the questions before; what is not asked is as is."""
    if not is_asked(question, answers):
        return values_of(question)[:1]
    return [one for one in values_of(question) if not _is_ruled_out(question, one, answers)]


@cache
def _selections() -> dict[frozenset[str], list[Answers]]:
    """Every combination of choices that can be chosen, by the files that it selects."""
    names = choice_questions()
    every = [Answers()]
    for name in names:
        every = [{**one, name: value} for one in every for value in _offered(name, one)]
    found = dict[frozenset[str], list[Answers]]()
    for answers in every:
        asked = {name: answers[name] for name in names if is_asked(name, answers)}
        found.setdefault(_selected(tuple(answers[one] for one in file_questions())), []).append(
            asked
        )
    return found


@cache
def _selected(values: tuple[str, ...]) -> frozenset[str]:
    """The files that the answers to the questions about files select."""
    return version().files_for(dict(zip(file_questions(), values, strict=True)))


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


def one_of_every(names: Sequence[str]) -> list[Answers]:
    """A variant for each combination of answers to these questions."""
    first = dict[tuple[str | None, ...], Answers]()
    for answers in possible():
        first.setdefault(tuple(answers.get(name) for name in names), answers)
    return list(first.values())


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
    return str(version().default(name, answers))


def read_by(source: str) -> list[str]:
    """The answers that a default, a condition or a check reads, in the order of the questions."""
    read = names_in(source)
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
