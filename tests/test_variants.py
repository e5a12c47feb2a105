"""Every variant: its files parse, show no trace of the template, and pass their own checks."""

import ast
import os
import re
import shutil
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests import matrix, ownership
from tests.rendering import files_of, quick_renders, render, run

every_variant = pytest.mark.parametrize("answers", matrix.variants(), ids=matrix.name_of)
"""Mark: a test of each selection of files, with text-only answers in turn."""

every_pair = pytest.mark.parametrize("answers", matrix.pairwise(), ids=matrix.name_of)
"""Mark: a test of as many variants as it takes for every two answers to meet."""

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
        r"(?s)\AREADME\.md\n.*(`missed|`redo|outlast|the job's)": {"handler", "proxy"},
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


# Most files are the same in many variants: what one says of itself is found out once.


@cache
def fault_of_form(path: str, text: str) -> str | None:
    """Why a file does not parse, is untidy, or shows that it comes from a template."""
    try:
        match Path(path).suffix:
            case ".py":
                ast.parse(text, path)
            case ".toml":
                tomllib.loads(text)
            case ".yml" | ".yaml":
                yaml.safe_load(text)
    except (SyntaxError, ValueError, yaml.YAMLError) as error:
        return f"it does not parse: {error}"
    # ${#name} is bash, for the length of a value.
    if path.endswith(".jinja") or re.search(r"\{%|%\}|(?<!\$)\{#|#\}|\{\{ ", text):
        return "the template shows"
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        return "it does not end with one newline"
    if re.search(r"[ \t]\n", text):
        return "a line ends with a space"
    if re.search("\n{4}" if path.endswith(".py") else "\n{3}", text):
        return "there are stray blank lines"
    return None


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
def own_imports(text: str) -> set[str]:
    """The modules that a Python file imports from its own project."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names):
                found |= {each.name for each in names}
            case ast.ImportFrom(module=str(module), names=names):
                # What is imported from a package may be a module, or a name in it.
                found |= {module}
    return {name for name in found if name.split(".")[0] in ("app", "dev", "tests")}


def is_there(module: str, paths: Collection[str]) -> bool:
    """Whether a project has a module, or a folder of that name."""
    path = module.replace(".", "/")
    return f"{path}.py" in paths or any(each.startswith(f"{path}/") for each in paths)


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


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Render hundreds of projects in little time."""
    with quick_renders():
        yield


class TestEveryVariant:
    @every_variant
    def test_every_file_is_in_order(
        self, template: Path, tmp_path: Path, subtests: pytest.Subtests, answers: matrix.Answers
    ) -> None:
        project = render(template, tmp_path / "project", dict(answers))
        files = texts(project)
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
        with subtests.test("what a file imports from its project is there"):
            lacking = {
                (path, module)
                for path, text in files.items()
                if path.endswith(".py")
                for module in own_imports(text)
                if not is_there(module, files)
            }
            assert not lacking
        with subtests.test("the release contract knows which files there are"):
            selected = matrix.version().files_for(matrix.with_defaults(answers))
            assert files.keys() - {".copier-answers.yml"} == selected
        with subtests.test("the README says whose each file is"):
            whose = ownership.told(files["README.md"])
            shared = [path for path, _ in ownership.sentinels(files)]
            assert whose["yours"] == ownership.owned() & files.keys()
            assert whose["shared"] == set(shared)
            assert whose["Copier's"] == {".copier-answers.yml"}
            assert not whose["made"] & files.keys()
        # The tests render hundreds of projects, and nobody looks at them again.
        shutil.rmtree(project)


class TestEveryPair:
    @every_pair
    def test_lint_and_format_find_nothing(
        self, template: Path, tmp_path: Path, answers: matrix.Answers
    ) -> None:
        project = render(template, tmp_path / "project", dict(answers))
        run(project, "ruff", "check", "--no-cache")
        run(project, "ruff", "format", "--check", "--no-cache")

    @pytest.mark.slow
    @every_pair
    def test_types_are_right(
        self,
        template: Path,
        tmp_path: Path,
        answers: matrix.Answers,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        """The cache is shared by the variants, which have their libraries in common."""
        project = render(template, tmp_path / "project", dict(answers))
        cache = tmp_path_factory.getbasetemp() / "mypy-cache"
        run(project, "mypy", "--cache-dir", os.fspath(cache))
