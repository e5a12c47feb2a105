"""A version of the template: what it asks, which files follow from the answers, and whose they are.

It needs no Copier, whose rules for answers, defaults and patterns it follows.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jinja2
import yaml
from jinja2 import meta
from jinja2.sandbox import SandboxedEnvironment

from patterns import UnknownPattern, matched

Answers = Mapping[str, object]

FOLDER = "template/"
SUFFIX = ".jinja"
ANSWERS = f"{FOLDER}{{{{ _copier_conf.answers_file }}}}{SUFFIX}"
"""What becomes the answers file of a project."""

SENTINEL = re.compile(r"(?m)^[ \t]*(?:#|<!--) Your [a-z ]+ go below this line\..*$")
"""A line below which the owner adds to a file that is the template's otherwise."""

_UNASKED = ("", "false", "no", "0", "none", "off")


class CannotTell(Exception):
    """What a version says cannot be evaluated. `str()` tells where, and why."""


class _Filters(dict[str, Any]):
    """Jinja's filters, and nothing under the names of Copier's: they are missed at their use."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a filter that can be compiled."""
        return super().get(name) or super().__getitem__("default")


class Version:
    """The files of a version, by their paths in the repository, and what follows from them.

    Raises:
        CannotTell: copier.yml is missing, is no YAML, or has no questions as this reads them.
    """

    def __init__(self, name: str, files: Mapping[str, str]) -> None:
        """Take the texts of copier.yml, of hooks/ and of template/; `name` is for messages."""
        self.name = name
        self.files = files
        try:
            self.settings: dict[str, Any] = dict(yaml.safe_load(files["copier.yml"]))
        except (KeyError, TypeError, ValueError, yaml.YAMLError) as error:
            raise CannotTell(f"{name}: copier.yml cannot be read: {error!r}") from error
        self._rendered = dict[tuple[object, ...], str]()
        self._matches = dict[tuple[object, ...], frozenset[str]]()

    @cached_property
    def questions(self) -> dict[str, dict[str, Any]]:
        """The questions by name, in their order."""
        found = {name: item for name, item in self.settings.items() if not name.startswith("_")}
        return {
            name: item if isinstance(item, dict) else {"default": item}
            for name, item in found.items()
        }

    def kind_of(self, name: str) -> str:
        """The type of a question's answers, as Copier takes it where none is said."""
        question = self.questions[name]
        default = question.get("default")
        guessed = {bool: "bool", int: "int", float: "float", str: "str"}.get(type(default), "yaml")
        return str(question.get("type", guessed))

    @cached_property
    def _choices(self) -> dict[str, dict[object, str]]:
        """The values of each question that has some, each with its validator."""
        found = dict[str, dict[object, str]]()
        for name, question in self.questions.items():
            if (choices := question.get("choices")) is None:
                continue
            if isinstance(choices, str):
                raise CannotTell(f"{self.name}: the choices of {name} are computed")
            listed = choices.values() if isinstance(choices, dict) else choices
            found[name] = dict(map(_choice, listed))
        return found

    def values(self, name: str) -> list[object]:
        """What a question offers; nothing where any text will do."""
        return list(self._choices.get(name, {}))

    @cached_property
    def least_copier(self) -> str:
        """The oldest Copier that it asks for."""
        return str(self.settings.get("_min_copier_version", "any"))

    @cached_property
    def promises(self) -> tuple[object, ...]:
        """All that an update depends on but for the texts of the files."""
        macros = sorted(item for item in self.files.items() if item[0].startswith("hooks/"))
        return self.files["copier.yml"], tuple(macros), self.paths, self.sentinels

    # --- Answers -------------------------------------------------------------------------------

    def possible(self) -> list[Answers]:
        """Every combination of choices that can be made, with stand-ins for the other answers."""
        made: list[Answers] = [{}]
        for name in self.questions:
            made = [{**one, name: value} for one in made for value in self._offered(name, one)]
        return [
            {name: value for name, value in one.items() if self.is_asked(name, one)} for one in made
        ]

    def _offered(self, name: str, answers: Answers) -> list[object]:
        if not self.is_asked(name, answers) and "default" in self.questions[name]:
            return [self.default(name, answers)]
        if name not in self._choices:
            return [self._stand_in(name)]
        return [one for one in self.values(name) if self.accepts(name, one, answers)]

    def _stand_in(self, name: str) -> object:
        """An answer where any will do, so long as nothing but text depends on it."""
        question = self.questions[name]
        text = str(question.get("placeholder", question.get("default", name)))
        return int(text) if self.kind_of(name) == "int" and text.isdigit() else text

    def after_update(self, last: Answers) -> dict[str, object]:
        """The answers, also to what is not asked, that `copier update --defaults` makes of these.

        An answer that is not accepted any more is forgotten, and the default takes its place.

        Raises:
            CannotTell: a default cannot be evaluated, or is not accepted itself.
        """
        known, answers = dict(last), dict[str, object]()
        for name, question in self.questions.items():
            context = known | answers
            if name in known and not self.accepts(name, known[name], context):
                del known[name]
            if not self.is_asked(name, context):
                known.pop(name, None)
            if name in known:
                answers[name] = known[name]
            elif "default" in question:
                answers[name] = self.default(name, known | answers)
                accepted = self.accepts(name, answers[name], known | answers)
                if self.is_asked(name, context) and not accepted:
                    raise CannotTell(f"the default of {name}: {answers[name]!r} is refused")
        return answers

    def is_asked(self, name: str, answers: Answers) -> bool:
        """Whether a question is asked after these answers."""
        text = str(self.questions[name].get("when", True))
        when = self._render(text, answers, f"whether {name} is asked")
        return when.strip().lower() not in _UNASKED

    def accepts(self, name: str, value: object, answers: Answers) -> bool:
        """Whether an answer is one of the choices and not ruled out; texts are not judged."""
        if name not in self._choices:
            return True
        validator = self._choices[name].get(value)
        if validator is None:
            return False
        return not self._render(validator, answers, f"{name}: {value}").strip()

    def default(self, name: str, answers: Answers) -> object:
        """The default of a question after these answers."""
        default = self.questions[name]["default"]
        if not isinstance(default, str):
            return default
        try:
            return self._render(default, answers, f"the default of {name}")
        except CannotTell as error:
            # A text that is made by one of Copier's own filters selects no file.
            if "No filter named" in str(error) and name not in self._choices:
                return self._stand_in(name)
            raise

    def read_by_default(self, name: str) -> set[str]:
        """The answers that a question's default reads, also through the questions before it."""
        names = list(self.questions)
        before = names[: names.index(name)]
        read, new = set[str](), {name}
        while new:
            texts = [str(self.questions[one].get("default", "")) for one in new]
            found = set[str]().union(*map(self.read_by, texts)) - read
            read |= found
            new = found & set(before)
        return read

    # --- Files ---------------------------------------------------------------------------------

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all variants' files, inside a project."""
        inside = [path.removeprefix(FOLDER) for path in self.files if path.startswith(FOLDER)]
        return frozenset(path.removesuffix(SUFFIX) for path in inside if "{{" not in path)

    @cached_property
    def owned(self) -> frozenset[str]:
        """The paths of the owner's files."""
        return frozenset(path.lstrip("/") for path in self.settings.get("_skip_if_exists", []))

    @cached_property
    def sentinels(self) -> frozenset[tuple[str, str]]:
        """The lines below which the owner adds, each with the path of its file."""
        return frozenset(
            (path.removeprefix(FOLDER).removesuffix(SUFFIX), line.strip())
            for path, text in self.files.items()
            # A file beside its own template is for the template's tests, and in no project.
            if path.startswith(FOLDER) and f"{path}{SUFFIX}" not in self.files
            for line in SENTINEL.findall(text)
        )

    def files_for(self, answers: Answers, operation: str = "copy") -> frozenset[str]:
        """The paths of the files that these answers, to all questions, select."""
        return self.paths - self.left_out(self.paths, answers, operation)

    def left_out(
        self,
        paths: frozenset[str],
        answers: Answers,
        operation: str,
        includes: "Version | None" = None,
    ) -> frozenset[str]:
        """The paths that `_exclude` matches; it may include files of another version.

        Raises:
            CannotTell: it reads an answer that is not there.
        """
        context = {**answers, "_copier_operation": operation}
        try:
            texts = [
                (includes or self)._render(str(pattern), context, "_exclude")
                for pattern in self.settings.get("_exclude", [])
            ]
            key = (paths, *texts)
            if key not in self._matches:
                self._matches[key] = matched(paths, "\n".join(texts))
        except UnknownPattern as error:
            raise CannotTell(f"_exclude: {error}") from error
        return self._matches[key]

    # --- Jinja ---------------------------------------------------------------------------------

    @cached_property
    def _environment(self) -> SandboxedEnvironment:
        options = self.settings.get("_envops", {})
        environment = SandboxedEnvironment(
            loader=jinja2.DictLoader(self.files),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=options.get("trim_blocks", False),
            lstrip_blocks=options.get("lstrip_blocks", False),
        )
        environment.filters = _Filters(environment.filters)
        return environment

    @cached_property
    def _compiled(self) -> dict[str, tuple[jinja2.Template, list[str]]]:
        return {}

    def _template(self, text: str) -> tuple[jinja2.Template, list[str]]:
        if text not in self._compiled:
            variables = meta.find_undeclared_variables(self._environment.parse(text))
            self._compiled[text] = self._environment.from_string(text), sorted(variables)
        return self._compiled[text]

    def read_by(self, text: str) -> set[str]:
        """The answers that a text of copier.yml reads."""
        return set(self._template(text)[1])

    def _render(self, text: str, answers: Answers, what: str) -> str:
        """Render a text; what is rendered with the same answers again is remembered.

        Raises:
            CannotTell: what the text says cannot be evaluated.
        """
        try:
            template, variables = self._template(text)
            key = (text, *(answers.get(name) for name in variables))
            if key not in self._rendered:
                self._rendered[key] = template.render(answers)
        except jinja2.TemplateError as error:
            raise CannotTell(f"{what}: {error}") from error
        return self._rendered[key]


def _choice(one: Any) -> tuple[object, str]:
    """A choice's value and its validator, however it is written."""
    value = one[1] if isinstance(one, list) else one
    if isinstance(value, dict):
        return value["value"], str(value.get("validator", ""))
    return value, ""
