"""What would become of the projects of an earlier release, if this were the next one."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from upgrading import Entry, row
from versions import ANSWERS, FOLDER, SUFFIX, Answers, CannotTell, Version

_UNTRUSTED = ("_tasks", "_migrations", "_jinja_extensions", "_external_data")
_PLACES = {
    "_answers_file": ".copier-answers.yml",
    "_subdirectory": FOLDER.rstrip("/"),
    "_templates_suffix": SUFFIX,
}
"""Where Copier, and what is here, finds a project's answers and the template's files."""

_WIDER = {("int", "float"), ("int", "str"), ("float", "str"), ("bool", "str")}
"""Types whose answers the other type takes as they are."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What does not hold for which version, and what would mend it."""

    version: str
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _Variant:
    """What the projects with some answers have, and what an update would make of them."""

    recorded: Answers
    before: Answers
    after: Answers


class Comparison:
    """An earlier release beside a later version, with what UPGRADING.md says in between."""

    def __init__(self, then: Version, now: Version, entries: Iterable[Entry]) -> None:
        """Take the rows of the versions after the earlier one."""
        self._then, self._now = then, now
        self._entries = {(entry.kind, entry.before): entry for entry in entries}

    def findings(self) -> Iterator[Finding]:
        """Everything that would not hold."""
        yield from self._copier()
        yield from self._questions()
        try:
            yield from self._answers()
            yield from self._paths()
        except CannotTell as error:
            yield self._finding(
                f"an update of its projects cannot be worked out: {error}",
                "Does something read an answer that they do not have? Write `NAME | default(...)`.",
            )
        yield from self._owners()
        yield from self._lines()

    def _finding(self, what: str, remedy: str) -> Finding:
        return Finding(self._then.name, what, remedy)

    def _entry(self, kind: str, *before: str) -> Entry | None:
        return self._entries.get((kind, before))

    def _without_entry(self, what: str, kind: str, *before: str) -> list[Finding]:
        """A finding, unless UPGRADING.md has a row about it."""
        if self._entry(kind, *before):
            return []
        return [self._finding(what, f"Say in UPGRADING.md: {row(kind, *before)}")]

    # --- What can be read -------------------------------------------------------------------------

    def _copier(self) -> Iterator[Finding]:
        """A newer Copier than owners have stops their updates."""
        before, now = self._then.least_copier, self._now.least_copier
        if before != now:
            yield from self._without_entry(
                f"it asks for Copier {before} or newer, and now for {now}", "copier", before
            )

    def _questions(self) -> Iterator[Finding]:
        for name in self._then.questions:
            if name not in self._now.questions:
                yield from self._removed(name)
                continue
            types = self._then.kind_of(name), self._now.kind_of(name)
            if types[0] == types[1]:
                continue
            what = f"the answer to {name} is of type {types[0]}, and now of type {types[1]}"
            if types not in _WIDER:
                yield self._finding(
                    f"{what}, which does not take every answer as it is",
                    f"Leave {name} as it is, and ask a new question, whose default reads {name}.",
                )
            yield from self._without_entry(what, "type", f"{name}: {types[0]}")

    def _removed(self, name: str) -> Iterator[Finding]:
        what = f"the question {name} is gone"
        new = self._now.questions.keys() - self._then.questions.keys()
        if not any(name in self._now.read_by_default(other) for other in new):
            yield self._finding(
                f"{what}, and Copier forgets its answers",
                f"Ask it as before, or have the default of a new question read it: "
                f'"{{{{ {name} | default(...) }}}}".',
            )
        yield from self._without_entry(what, "question", name)

    # --- What an update would make of every variant -----------------------------------------------

    @cached_property
    def _variants(self) -> list[_Variant]:
        return [
            _Variant(one, self._then.after_update(one), self._now.after_update(one))
            for one in self._then.possible()
        ]

    def _changed(self, variant: _Variant) -> Iterator[tuple[str, object, object]]:
        """The answers that an update would change, before and after; None: it would forget it."""
        for name, value in variant.recorded.items():
            if name not in self._now.questions:
                continue
            after = variant.after.get(name)
            if not self._now.values(name) and not self._now.is_asked(name, variant.after):
                after = None
            if after != value:
                yield name, value, after

    def _answers(self) -> Iterator[Finding]:
        changed = dict[tuple[str, object, object], Answers]()
        for variant in self._variants:
            for change in self._changed(variant):
                changed[change] = self._common(changed.get(change), variant.recorded)
        for (name, value, after), answers in changed.items():
            made = "nothing" if after is None else after
            others = {one: answers[one] for one in answers if one != name}
            what = f"an update would turn {name}: {value} into {made}{_where(others)}"
            entry = self._entry("choice", f"{name}: {value}")
            if name not in self._now.read_by_default(name) or after is None:
                yield self._finding(
                    what,
                    f"Accept {value} as before, or map it: a question before {name}, with "
                    f"`when: false`, keeps the old answer, and the default of {name} reads it.",
                )
            elif entry and f"`{name}: {after}`" not in entry.now:
                yield self._finding(
                    what, f"UPGRADING.md says {entry.now}. Say there, or do, the other one."
                )
            yield from self._without_entry(what, "choice", f"{name}: {value}")

    def _common(self, one: Answers | None, other: Answers) -> Answers:
        """The choices that all projects have of which something is so."""
        chosen = {name: value for name, value in other.items() if self._then.values(name)}
        return chosen if one is None else dict(one.items() & chosen.items())

    def _paths(self) -> Iterator[Finding]:
        gone, unprotected = dict[str, Answers](), set[str]()
        edited = self._then.owned | {path for path, _ in self._then.sentinels}
        for variant in self._variants:
            stays = self._now.left_out(
                self._then.paths, variant.before, "update", includes=self._then
            )
            if any(self._changed(variant)):
                continue  # Other answers select other files, as they do for a new project.
            lost = self._then.files_for(variant.before) - self._now.files_for(variant.after)
            unprotected |= (lost & edited) - stays
            for path in lost:
                gone[path] = self._common(gone.get(path), variant.recorded)
        for path, answers in sorted(gone.items()):
            what = f"the file {path} is gone{_where(answers) if path in self._now.paths else ''}"
            if path in unprotected:
                yield self._finding(
                    f"{what}, and an update would delete what the owner has written in it",
                    f"Keep /{path} in copier.yml: in `_exclude`, where `_copier_operation` is "
                    '"update".',
                )
            yield from self._without_entry(what, "path", path)

    # --- Whose the files are ----------------------------------------------------------------------

    def _owners(self) -> Iterator[Finding]:
        for path in sorted(self._then.owned - self._now.owned):
            yield from self._without_entry(
                f"the owner's file {path} is the template's now", "owner", path
            )
        for path in sorted(self._now.owned - self._then.owned):
            what = f"the template's file {path} is the owner's now"
            if path not in self._then.paths:
                what = f"the new file {path} is the owner's, and no update brings it"
            yield from self._without_entry(what, "owner", path)

    def _lines(self) -> Iterator[Finding]:
        for path, line in sorted(self._then.sentinels - self._now.sentinels):
            if path in self._now.paths:
                yield from self._without_entry(
                    f'{path} has no line "{line}" any more, below which owners have added',
                    "line",
                    path,
                    line,
                )


def _where(answers: Answers) -> str:
    """The choices with which something is so, if it is not so with all."""
    listed = ", ".join(f"{name}={value}" for name, value in sorted(answers.items()))
    return f" (with {listed})" if listed else ""


def alone(now: Version) -> Iterator[Finding]:
    """What has to hold in a version whatever was before."""
    for name in sorted(now.settings.keys() & set(_UNTRUSTED)):
        yield Finding(
            now.name,
            f"{name} in copier.yml makes every copy and update ask for --trust",
            "Do without: a message can say what to do, a default or `_exclude` can compute it.",
        )
    for name, question in now.questions.items():
        if "default" not in question:
            yield Finding(
                now.name,
                f"the question {name} has no default, so that `copier update --defaults` stops",
                "Give it the default with which projects stay as they are.",
            )
    yield from _not_recorded(now)
    yield from _not_protected(now)
    yield from _imports(now)


def _not_recorded(now: Version) -> Iterator[Finding]:
    """What would keep a project from knowing its answers, without which nothing can update it."""
    if "_copier_answers" not in now.files.get(ANSWERS, ""):
        yield Finding(
            now.name,
            f"no {ANSWERS} writes down what a project has answered",
            "Let it have `{{ _copier_answers | to_nice_yaml }}`.",
        )
    for name, usual in _PLACES.items():
        if (value := now.settings.get(name, usual)) != usual:
            yield Finding(
                now.name,
                f"{name} is {value}, where no update and no check looks",
                f"Leave it at {usual}.",
            )
    listed = now.settings.get("_secret_questions", [])
    for name, question in now.questions.items():
        if name in listed or question.get("secret"):
            yield Finding(
                now.name,
                f"the answer to {name} is secret, so that no project remembers it",
                "Leave `secret` out: what is secret is no answer, but a setting of the service.",
            )


def _not_protected(now: Version) -> Iterator[Finding]:
    written = frozenset[str]()
    try:
        for answers in now.possible():
            written |= now.files_for(now.after_update(answers), "update") & now.owned
    except CannotTell as error:
        yield Finding(now.name, f"its variants cannot be worked out: {error}", "Mend copier.yml.")
    for path in sorted(written):
        yield Finding(
            now.name,
            f"an update would write the owner's file {path} again",
            f'Add /{path} to `_exclude`, where `_copier_operation` is "update".',
        )


def _imports(now: Version) -> Iterator[Finding]:
    modules = {
        path.removesuffix(".py").replace("/", "."): path
        for path in now.owned
        if path.endswith(".py")
    }
    for path, text in now.files.items():
        inside = path.removeprefix(FOLDER)
        if path.startswith(FOLDER) and path.endswith(".py") and inside not in now.owned:
            for module in sorted(_at_start(ast.parse(text)) & modules.keys()):
                yield Finding(
                    now.name,
                    f"{inside} imports the owner's {modules[module]} when it is loaded",
                    "Import it in a function, and say what to write where it is missing.",
                )


def _at_start(tree: ast.AST) -> set[str]:
    """The modules that are imported when a file is loaded, and not in a function that is called."""
    found = set[str]()
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.Import(names):
                found |= {each.name for each in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{each.name}" for each in names)}
        found |= _at_start(node)
    return found
