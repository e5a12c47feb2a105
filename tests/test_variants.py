"""Every variant: its files parse, show no trace of the template, and pass their own checks."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests import matrix
from tests.rendering import clean_environment, files_of, render

Variant = Callable[[matrix.Answers], Path]

every_three_choices = pytest.mark.parametrize(
    "answers", matrix.rendered_variants(), ids=matrix.name_of
)
every_selection_of_files = pytest.mark.parametrize(
    "answers", matrix.source_variants(), ids=matrix.name_of
)

every_pair_of_selections = pytest.mark.parametrize(
    "answers", matrix.tested_variants(), ids=matrix.name_of
)

# The words by which a reader would notice a variant, and the variants in which they belong: the
# Functions Framework is made of Flask and gunicorn.
TRACES = {
    "framework": {
        r"functions.framework": {"functions-framework"},
        r"flask": {"flask", "functions-framework"},
        r"gunicorn": {"flask", "functions-framework"},
        r"fastapi|starlette|uvicorn": {"fastapi"},
    },
    "store": {
        r"firestore": {"firestore"},
        r"spanner": {"spanner"},
        r"redis|memorystore|valkey": {"memorystore"},
    },
    "auth": {
        r"auth[./]iam\b": {"iam"},
        r"auth[./]verify\b|cachecontrol": {"verify"},
    },
    "kind": {
        r"\bprox(y|ies)\b|dev[./]standin|TARGET_ENDPOINT|app[./]targets|workflows": {"proxy"},
        r"\bjob\.py": {"handler"},
    },
    "target": {
        r"workflows": {"workflows"},
        r"cloud.run.job": {"cloud-run-job"},
        r"cloud.?build": {"cloud-build"},
        r"targets[./]http\b": {"http"},
        r"cloud.?tasks": {"cloud-tasks"},
        r"bigquery": {"bigquery"},
    },
}


def texts(project: Path) -> Iterator[tuple[str, str]]:
    """The text files of a project."""
    for path, content in files_of(project).items():
        yield path, content.decode()


def run(project: Path, *arguments: str) -> None:
    """Run a Python module in a project and fail with what it says."""
    command = [sys.executable, "-m", *arguments]
    result = subprocess.run(
        command, cwd=project, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


class TestMatrix:
    def test_every_choice_is_in_some_variant(self) -> None:
        chosen = {item for answers in matrix.possible() for item in answers.items()}
        assert chosen == {
            (question, value)
            for question in matrix.choice_questions()
            for value in matrix.values_of(question)
        }

    def test_the_map_reads_only_answers_that_can_be_chosen(self) -> None:
        assert set(matrix.file_questions()) <= set(matrix.choice_questions())
        assert matrix.file_questions()


class TestRender:
    @every_three_choices
    def test_every_file_parses(self, variant: Variant, answers: matrix.Answers) -> None:
        for path, text in texts(variant(answers)):
            match Path(path).suffix:
                case ".py":
                    ast.parse(text, path)
                case ".toml":
                    tomllib.loads(text)
                case ".yml" | ".yaml":
                    yaml.safe_load(text)

    @every_three_choices
    def test_nothing_of_the_template_is_left(
        self, variant: Variant, answers: matrix.Answers
    ) -> None:
        for path, text in texts(variant(answers)):
            assert not path.endswith(".jinja"), path
            assert not re.search(r"\{%|%\}|\{#|#\}|\{\{ ", text), path

    @every_three_choices
    def test_text_is_tidy(self, variant: Variant, answers: matrix.Answers) -> None:
        for path, text in texts(variant(answers)):
            assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), path
            assert not re.search(r"[ \t]\n", text), path
            assert "\n\n\n\n" not in text, path
            if not path.endswith(".py"):
                assert "\n\n\n" not in text, path

    @every_three_choices
    def test_no_unchosen_variant_shows(self, variant: Variant, answers: matrix.Answers) -> None:
        for path, text in texts(variant(answers)):
            for question, words in TRACES.items():
                for word, belongs in words.items():
                    if answers[question] not in belongs:
                        assert not re.search(word, f"{path}\n{text}", re.IGNORECASE), (path, word)

    @every_three_choices
    def test_a_second_render_is_the_same_byte_for_byte(
        self, template: Path, tmp_path: Path, variant: Variant, answers: matrix.Answers
    ) -> None:
        again = render(template, tmp_path / "project", dict(answers))
        assert files_of(again) == files_of(variant(answers))


class TestSources:
    @every_selection_of_files
    def test_lint_and_format_find_nothing(self, variant: Variant, answers: matrix.Answers) -> None:
        run(variant(answers), "ruff", "check", "--no-cache")
        run(variant(answers), "ruff", "format", "--check", "--no-cache")

    @pytest.mark.slow
    @every_pair_of_selections
    def test_types_are_right(
        self,
        variant: Variant,
        answers: matrix.Answers,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        """The cache is shared by the variants, which have their libraries in common."""
        cache = tmp_path_factory.getbasetemp() / "mypy-cache"
        run(variant(answers), "mypy", "--cache-dir", os.fspath(cache))

    @pytest.mark.slow
    @every_pair_of_selections
    def test_its_own_tests_pass(
        self, template: Path, tmp_path: Path, answers: matrix.Answers
    ) -> None:
        project = render(template, tmp_path / "project", dict(answers))
        run(project, "pytest", "-q", "-p", "no:cacheprovider")
