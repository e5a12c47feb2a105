"""The answers files in examples/, which the documentation shows."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matrix
from tests.closures import is_proven_by
from tests.conftest import Render
from tests.rendering import ROOT, clean_environment, files_of, render, run

EXAMPLES = sorted(ROOT.glob("examples/*.yml"))

RECOMMENDED = ROOT / "examples" / "handler.yml"
"""The profile whose tests `test_fresh_machine` runs, all of them, and `test_pythons`."""

LOCAL = "not firestore and not spanner and not redis"
"""The tests that need no store's server, by their names."""

IN_PLACE = (
    "tests/conformance",
    "tests/guard/test_processes.py",
    "tests/http/test_hanging_store.py",
    "tests/http/test_simulator.py",
    "tests/records/test_command_line.py",
    "tests/records/test_missed.py",
    "tests/records/test_redo.py",
    "tests/records/test_redo_delivery.py",
    "tests/targets/test_once.py",
    "tests/targets/test_simulator.py",
)
"""What takes long or waits, and depends on no answer: it is run in place."""

OTHERS = [path for path in EXAMPLES if path != RECOMMENDED]

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def answers_of(path: Path) -> dict[str, Any]:
    """The answers of an example."""
    answers: dict[str, Any] = yaml.safe_load(path.read_text())
    return answers


@pytest.mark.parametrize("question", ["kind", "platform", "framework", "store", "deploy"])
def test_every_choice_has_an_example(question: str) -> None:
    recorded = [matrix.with_defaults(answers_of(path)) for path in EXAMPLES]
    assert {answers[question] for answers in recorded} == set(matrix.values_of(question))


@every_example
def test_an_example_answers_only_what_is_asked(path: Path) -> None:
    """Copier ignores an answer without a question, so a misspelt one would go unnoticed."""
    assert answers_of(path).keys() <= matrix.questions().keys()


@every_example
def test_an_example_is_accepted_and_recorded(rendered: Render, path: Path) -> None:
    answers = answers_of(path)
    recorded = yaml.safe_load((rendered(**answers) / ".copier-answers.yml").read_text())
    assert {name: recorded[name] for name in answers} == answers


@every_example
def test_a_second_render_is_the_same_byte_for_byte(
    questionnaire: Path, tmp_path: Path, path: Path
) -> None:
    """The first by Copier's command, which knows nothing of what makes the tests quick."""
    copier = Path(sys.executable).with_name("copier")
    places: list[str | Path] = [path, questionnaire, tmp_path / "first"]
    command = [copier, "copy", "--quiet", "--defaults", "--data-file", *places]
    subprocess.run(command, env=clean_environment(), check=True)
    again = render(questionnaire, tmp_path / "again", answers_of(path))
    assert files_of(again) == files_of(tmp_path / "first")


@pytest.mark.slow
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_its_own_tests_pass(template: Path, tmp_path: Path, path: Path) -> None:
    """But for those that no answer changes: these are run in place."""
    project = render(template, tmp_path / "project", answers_of(path))
    here, in_place = sources_of(project), sources_of(template / "template")
    same = [
        each for each in here if each.startswith("tests/") and is_proven_by(each, here, in_place)
    ]
    ignored = [f"--ignore={each}" for each in (*IN_PLACE, *same)]
    run(project, "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-k", LOCAL, *ignored)


def sources_of(folder: Path) -> dict[str, str]:
    """The Python files of a project by their paths."""
    files = files_of(folder)
    return {path: text.decode() for path, text in files.items() if path.endswith(".py")}


def test_few_tests_are_left_out(template: Path, tmp_path: Path) -> None:
    """What is the same everywhere is, and what depends on answers or starts something is not."""
    project = render(template, tmp_path / "project", {"framework": "flask", "lease": 30})
    here, in_place = sources_of(project), sources_of(template / "template")
    proven = {each for each in here if is_proven_by(each, here, in_place)}
    assert {"tests/test_schedule.py", "tests/test_record.py"} <= proven
    assert proven.isdisjoint(
        {"tests/test_service.py", "tests/test_defaults.py", "tests/http/test_crash.py"}
    )
