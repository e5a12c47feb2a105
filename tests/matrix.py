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
def file_questions() -> list[str]:
    """The questions whose answers select files: those that the map in `_exclude` reads."""
    environment = _environment()
    read = set[str]()
    for pattern in questionnaire()["_exclude"]:
        read |= meta.find_undeclared_variables(environment.parse(pattern))
    return [name for name in choice_questions() if name in read]


def is_possible(answers: Answers) -> bool:
    """Whether no choice among the answers is ruled out by another, or not asked for."""
    return all(
        _asked(question).render(answers) == "True" or answer == values_of(question)[0]
        for question, answer in answers.items()
    ) and not any(
        _refusal(question, answer).render(answers) for question, answer in answers.items()
    )


@cache
def _asked(question: str) -> jinja2.Template:
    """What says whether a question is asked."""
    return _environment().from_string(str(questions()[question].get("when", True)))


@cache
def _refusal(question: str, answer: str) -> jinja2.Template:
    """What says why an answer cannot be chosen."""
    choices = questions()[question]["choices"].values()
    rules = [one for one in choices if isinstance(one, dict) and one["value"] == answer]
    return _environment().from_string(rules[0].get("validator", "") if rules else "")


@cache
def possible() -> list[Answers]:
    """Every combination of choices that can be chosen."""
    names = choice_questions()
    product = itertools.product(*map(values_of, names))
    every = (dict(zip(names, values, strict=True)) for values in product)
    return list(filter(is_possible, every))


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


@cache
def source_variants() -> list[Answers]:
    """One variant for each selection of files."""
    first = dict[tuple[str, ...], Answers]()
    for answers in possible():
        first.setdefault(tuple(answers[name] for name in file_questions()), answers)
    return list(first.values())


@cache
def tested_variants() -> list[Answers]:
    """Few selections of files, with every pair of what the answers select among them."""
    names = file_questions()
    pairs = {
        index: set(itertools.combinations([(name, answers[name]) for name in names], 2))
        for index, answers in enumerate(source_variants())
    }
    missing = set[tuple[tuple[str, str], ...]]().union(*pairs.values())
    chosen = []
    while missing:
        best = max(pairs, key=lambda index: len(pairs[index] & missing))
        missing -= pairs[best]
        chosen.append(source_variants()[best])
    return chosen


def name_of(answers: Answers) -> str:
    """A test id: what is not the first value of its question, as `auth=verify,framework=flask`."""
    return ",".join(
        f"{name}={value}" for name, value in answers.items() if value != values_of(name)[0]
    )


def mapped_paths() -> list[str]:
    """The paths that the map in `_exclude` names, of all variants."""
    lines = "\n".join(questionnaire()["_exclude"]).splitlines()
    return [line for line in lines if not line.startswith("{%")]
