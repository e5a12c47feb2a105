"""Every block of code in the documentation is of its language, and every job is one."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import hcl2
import pytest
import yaml

from tests.docs.markdown import SHELL, Document, Snippet, of_the_repository
from tests.docs.readmes import EXAMPLES, readme_of
from tests.docs.sandbox import Kitchen
from tests.rendering import ROOT, clean_environment

PARSERS: dict[str, Callable[[str], object]] = {
    "hcl": hcl2.loads,
    "json": json.loads,
    "python": ast.parse,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}

OTHERS = {
    **dict.fromkeys(SHELL, "run by test_commands.py"),
    "mermaid": "drawn by GitHub; nothing here draws it",
    "text": "no language",
}

REPORTS = "def export(*, day: object, idempotency_key: str) -> int: ...\n"
"""What the README's job imports, as what its reader has already."""

CALL_THE_JOB = """
import asyncio, importlib.util, inspect, sys
from datetime import UTC, datetime, timedelta
from app.dedup import Attempt, GiveUp

noon = datetime(2026, 10, 16, 12, tzinfo=UTC)
for path in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("job", path)
    job = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(job)
    for recovered in (False, True):
        attempt = Attempt(
            run_id="5a" * 32, attempt_id="c4" * 16, job_name="nightly-report", schedule_time=noon,
            deadline=noon + timedelta(minutes=3), recovered=recovered,
        )
        try:
            result = job.run(attempt)
            result = asyncio.run(result) if inspect.iscoroutine(result) else result
        except GiveUp:
            continue
        assert result is None or isinstance(result, dict), (path, result)
"""


def snippets() -> list[tuple[Document, Snippet]]:
    """The blocks of code of all documents of the repository."""
    return [
        (document, snippet) for document in of_the_repository() for snippet in document.snippets()
    ]


def faults(document: Document, snippet: Snippet) -> str | None:
    """What is wrong with a block of code."""
    place = f"{document.name}:{snippet.line}"
    if snippet.language in OTHERS:
        return None
    if snippet.language not in PARSERS:
        return f"{place}: nothing here knows the language {snippet.language!r}"
    try:
        PARSERS[snippet.language](snippet.text)
    except Exception as error:
        return f"{place}: {error}"
    return None


def jobs() -> list[tuple[str, str]]:
    """The jobs that the documentation shows: a name for each, and its code."""
    return [
        (re.sub(r"\W", "_", f"{document.name}_{snippet.line}"), snippet.text)
        for document, snippet in snippets()
        if snippet.language == "python"
        and re.search(r"^(async )?def run\(", snippet.text, re.MULTILINE)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module for each job, and what they import."""
    for name, text in jobs():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "reports.pyi").write_text(REPORTS)
    (tmp_path / ".local").mkdir()
    return tmp_path


def test_every_block_is_of_its_language() -> None:
    found = snippets()
    assert len(found) > 50
    assert [fault for one in found if (fault := faults(*one))] == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_block_of_a_projects_readme_is_of_its_language(
    kitchen: Kitchen, example: str
) -> None:
    document, _ = readme_of(kitchen, example)
    assert [fault for one in document.snippets() if (fault := faults(document, one))] == []


@pytest.mark.slow
def test_every_job_has_the_types_that_the_project_asks_for(folder: Path) -> None:
    assert len(jobs()) > 5
    options = ["--strict", "--cache-dir", str(folder / "cache"), "--config-file="]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *(f"{name}.py" for name, _ in jobs())],
        cwd=folder,
        env=clean_environment() | {"MYPYPATH": str(ROOT / "template")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


def test_every_job_runs(folder: Path) -> None:
    """But for those that call what is not here."""
    far = r"(?m)^(import requests|from reports)"
    local = [name for name, text in jobs() if not re.search(far, text)]
    assert len(local) > 3
    result = subprocess.run(
        [sys.executable, "-c", CALL_THE_JOB, *(f"{name}.py" for name in local)],
        cwd=folder,
        env=clean_environment() | {"PYTHONPATH": str(ROOT / "template")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
