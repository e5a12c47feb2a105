"""Every variant: its files parse, show no trace of the template, and pass their own checks.

Its tests are run in the template's folder, and by the examples.
"""

import ast
import os
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from tests import matrix, ownership
from tests.closures import lacking, modules_of
from tests.conftest import IsFirst
from tests.forms import fault_of_form
from tests.rendering import ROOT, files_of, render, run


def _quick(variants: list[matrix.Answers]) -> list[matrix.Answers]:
    """The first variant of each kind."""
    return list({answers["kind"]: answers for answers in reversed(variants)}.values())


every_variant = pytest.mark.parametrize(
    "answers",
    [
        pytest.param(
            answers,
            id=matrix.name_of(answers),
            marks=[] if answers in _quick(matrix.variants()) else [pytest.mark.slow],
        )
        for answers in matrix.variants()
    ],
)
"""Mark: a test of each selection of files, with text-only answers in turn."""

# The words by which a reader would notice a variant, and the answers with which they belong there:
# the Functions Framework is made of Flask and gunicorn, and a workflow keeps records in Firestore.
TRACES = {
    "platform": {
        r"dockerfile": {"cloud-run"},
        r"buildpack": {"cloud-run-functions", "app-engine"},
        r"app\.yaml|gcloud app ": {"app-engine"},
    },
    "kind": {
        r"kinds[./]step\b|StepAttempt, GiveUp": {"step"},
        r"(?s)\A[A-Z]+\.md\n.*(`missed|`redo|outlast|the job's)": {"handler", "proxy"},
        r"kinds[./]proxy|dev[./]standin|TARGET_ENDPOINT|app[./](calls|targets)": {"proxy"},
        r"\bjob\.py": {"handler", "step"},
    },
    "target": {
        r"targets[./]workflows|workflowexecutions": {"workflows"},
        r"targets[./]cloud_run_job|jobs:run\b": {"cloud-run-job"},
        r"targets[./]cloud_build|triggers\.run": {"cloud-build"},
        r"targets[./]http\b": {"http"},
        r"cloud.?tasks": {"cloud-tasks"},
        r"bigquery": {"bigquery"},
        r"app[./]guard\b|app\.guard": {"cloud-run-job", "cloud-build"},
        r"workflow\.yaml|workflow_runs": {"workflows"},
    },
    "framework": {
        r"functions.framework": {"functions-framework"},
        r"flask": {"flask", "functions-framework"},
        r"gunicorn": {"flask", "functions-framework"},
        r"fastapi|starlette|uvicorn": {"fastapi"},
    },
    "store": {
        r"firestore": {"firestore", "workflows"},
        r"spanner": {"spanner"},
        r"redis|memorystore|valkey": {"memorystore"},
    },
    "auth": {
        r"auth[./]app_engine\b|AUTH=app-engine": {"app-engine"},
        r"auth[./]iam\b": {"iam"},
        r"auth[./]verify\b|cachecontrol": {"verify"},
    },
    "deploy": {
        r"terraform|hcl": {"terraform"},
    },
}


def texts(project: Path) -> dict[str, str]:
    """The text files of a project, by their paths."""
    return {path: content.decode() for path, content in files_of(project).items()}


def selected(answers: matrix.Answers) -> set[str]:
    """The files of a variant, as the release contract knows them, but for the answers."""
    return set(matrix.version().files_for(matrix.with_defaults(answers)))


def texts_in_parts(project: Path, answers: matrix.Answers) -> dict[str, str]:
    """All texts of a project of which only those are rendered that depend on answers."""
    rendered = texts(project)
    return rendered | {path: in_place(path) or "" for path in selected(answers) - rendered.keys()}


# Most files are the same in many variants: what one says of itself is found out once.


@cache
def traces(path: str, text: str) -> set[tuple[str, str]]:
    """The words of variants that show in a file, with the question that each is about."""
    return {
        (question, word)
        for question, words in TRACES.items()
        for word in words
        if re.search(word, f"{path}\n{text}", re.IGNORECASE)
    }


@cache
def in_place(path: str) -> str | None:
    """The text of a file in the template's folder, which is linted, typed and tested there."""
    source = ROOT / "template" / path
    return source.read_text() if source.exists() else None


def shape(text: str) -> str:
    """A Python file but for its texts, which have no effect on whether its types are right."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
            node.value = type(node.value)()
    return f"shape {ast.dump(tree)}"


class TestMatrix:
    def test_every_choice_is_in_some_variant(self) -> None:
        chosen = {item for answers in matrix.variants() for item in answers.items()}
        assert chosen == {
            (question, value)
            for question in matrix.choice_questions()
            for value in matrix.values_of(question)
        }

    def test_every_two_text_only_answers_meet(self) -> None:
        """And so does each of them with every answer that selects files."""
        possible = set[matrix.Pair]().union(*map(matrix.pairs_of, matrix.possible()))
        met = set[matrix.Pair]().union(*map(matrix.pairs_of, matrix.variants()))
        few = set[matrix.Pair]().union(*map(matrix.pairs_of, matrix.pairwise()))
        assert possible == met == few

    def test_the_map_reads_only_answers_that_can_be_chosen(self) -> None:
        assert set(matrix.file_questions()) <= set(matrix.choice_questions())
        assert matrix.file_questions()


class TestEveryVariant:
    @every_variant
    def test_every_file_is_in_order(
        self,
        template: Path,
        questionnaire: Path,
        tmp_path: Path,
        subtests: pytest.Subtests,
        is_first: IsFirst,
        mypy_cache: Path,
        answers: matrix.Answers,
    ) -> None:
        # Most files are copied as they are: they are there without being copied once more.
        files = texts_in_parts(render(questionnaire, tmp_path / "parts", dict(answers)), answers)

        @cache
        def project() -> Path:
            return render(template, tmp_path / "project", dict(answers))

        with subtests.test("each file parses, is tidy and shows no trace of the template"):
            faults = {path: fault_of_form(path, text) for path, text in files.items()}
            assert not {path: fault for path, fault in faults.items() if fault}
        with subtests.test("no unchosen variant shows"):
            unchosen = {
                (path, word)
                for path, text in files.items()
                for question, word in traces(path, text)
                if TRACES[question][word].isdisjoint(answers.values())
            }
            assert not unchosen
        code = {path: text for path, text in files.items() if path.endswith(".py")}
        with subtests.test("what a file imports from its project is there"):
            modules = modules_of(files)
            missing = {path: lacking(text, modules) for path, text in code.items()}
            assert not {path: modules for path, modules in missing.items() if modules}
        with subtests.test("lint and format find nothing"):
            # Of a text that is the same in many variants, they are asked once.
            if unseen := [path for path, text in code.items() if is_first(f"{path} {text}")]:
                run(project(), "ruff", "check", "--no-cache", *unseen)
                run(project(), "ruff", "format", "--check", "--no-cache", *unseen)
        with subtests.test("types are right"):
            # Where every file is one of the template's, and nothing is lacking, they are right
            # because they are in the template's folder. The others are few.
            rendered = [path for path, text in code.items() if text != in_place(path)]
            if [path for path in rendered if is_first(f"{path} {shape(code[path])}")]:
                run(project(), "mypy", "--cache-dir", os.fspath(mypy_cache))
        with subtests.test("the release contract knows which files there are"):
            assert files.keys() - {".copier-answers.yml"} == selected(answers)
        with subtests.test("the README says whose each file is"):
            whose = ownership.told(files["README.md"])
            shared = [path for path, _ in ownership.sentinels(files)]
            assert whose["yours"] == ownership.owned() & files.keys()
            assert whose["shared"] == set(shared)
            assert whose["Copier's"] == {".copier-answers.yml"}
            assert not whose["made"] & files.keys()
        # The tests render hundreds of projects, and nobody looks at them again.
        shutil.rmtree(tmp_path)

    @pytest.mark.slow
    @pytest.mark.parametrize("answers", matrix.pairwise(), ids=matrix.name_of)
    def test_a_whole_render_is_what_its_parts_are(
        self, template: Path, questionnaire: Path, tmp_path: Path, answers: matrix.Answers
    ) -> None:
        whole = texts(render(template, tmp_path / "project", dict(answers)))
        parts = texts_in_parts(render(questionnaire, tmp_path / "parts", dict(answers)), answers)
        # It names the template.
        del whole[".copier-answers.yml"], parts[".copier-answers.yml"]
        assert whole == parts
