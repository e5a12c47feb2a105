"""The variants to test, read from copier.yml, so that a new choice is tested from its first day."""

import itertools
from functools import cache
from typing import Any

import jinja2
import yaml
from jinja2 import meta
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


def is_possible(answers: Answers) -> bool:
    """Whether no choice among the answers is ruled out by another."""
    return not any(
        _compiled(choice.get("validator", "")).render(answers)
        for question, answer in answers.items()
        for choice in questions()[question]["choices"].values()
        if isinstance(choice, dict) and choice["value"] == answer
    )


def _asked(answers: Answers) -> Answers:
    """Leave out the questions that are not asked where the others have these answers."""
    kept = dict(answers)
    for name in answers:
        when = str(questions()[name].get("when", "true"))
        if _compiled(when).render(answers).strip().lower() in ("false", ""):
            del kept[name]
    return kept


def pairs_of(answers: Answers) -> set[Pair]:
    """Every two answers of a variant."""
    return set(itertools.combinations(sorted(answers.items()), 2))


@cache
def possible() -> list[Answers]:
    """Every combination of choices that can be chosen, with what is asked then."""
    names = choice_questions()
    product = itertools.product(*map(values_of, names))
    every = (dict(zip(names, values, strict=True)) for values in product)
    asked = map(_asked, filter(is_possible, every))
    return list({tuple(answers.items()): answers for answers in asked}.values())


@cache
def variants() -> list[Answers]:
    """A variant for each selection of files, and as many as it takes for every two answers to meet.

    The answers that select files make the full product. Their variants take turns in the answers
    that only change text.
    """
    selections = dict[tuple[str | None, ...], list[Answers]]()
    for answers in possible():
        selection = tuple(answers.get(name) for name in file_questions())
        selections.setdefault(selection, []).append(answers)
    missing = set[Pair]().union(*map(pairs_of, possible()))
    chosen = []
    for every in selections.values():
        chosen.append(_most_of(missing, every))
        missing -= pairs_of(chosen[-1])
    return chosen + _covering(missing, possible())


@cache
def pairwise() -> list[Answers]:
    """Few of the variants, among which every two answers meet that meet in any."""
    return _covering(set[Pair]().union(*map(pairs_of, variants())), variants())


def _covering(missing: set[Pair], every: list[Answers]) -> list[Answers]:
    chosen = []
    while missing:
        chosen.append(_most_of(missing, every))
        missing = missing - pairs_of(chosen[-1])
    return chosen


def _most_of(pairs: set[Pair], every: list[Answers]) -> Answers:
    return max(every, key=lambda answers: len(pairs_of(answers) & pairs))


def impossible_pairs() -> list[Answers]:
    """Every two choices of which one rules out the other, while both go with the defaults."""
    defaults = {name: values_of(name)[0] for name in choice_questions()}
    changes = [(name, value) for name in choice_questions() for value in values_of(name)]
    return [
        dict(pair)
        for pair in itertools.combinations(changes, 2)
        if pair[0][0] != pair[1][0]
        and is_possible(defaults | dict(pair[:1]))
        and is_possible(defaults | dict(pair[1:]))
        and not is_possible(defaults | dict(pair))
    ]


def name_of(answers: Answers) -> str:
    """A test id: what is not the first value of its question, as `auth=verify,framework=flask`."""
    return ",".join(
        f"{name}={value}" for name, value in answers.items() if value != values_of(name)[0]
    )


def mapped_paths() -> list[str]:
    """The paths that the map in `_exclude` names, of all variants."""
    lines = "\n".join(questionnaire()["_exclude"]).splitlines()
    return [line for line in lines if not line.startswith("{%")]
