"""The page of results says what was found and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rendering import ROOT, clean_environment

PROGRAM = """
import sys
from pathlib import Path
from benchmarks import page
from benchmarks.results import Column, Contrast, Report, Result, Table, Target

result = Result(
    "claim",
    "What does it cost?",
    "It was timed.",
    [Table("Times", [Column("who", "by"), Column("p50", "p50", "ms")], [
        {"who": "ours", "p50": 1234.5}, {"who": "theirs", "p50": None}])],
    [Target("quick", 0.5, 1.0), Target("small", 3.0, 2.0), Target("unknown", None, 1.0)],
    [Contrast("claim", 2.0, 8.0, "theirs", "ms")],
    ["a part that is missing"],
)
folder = Path(sys.argv[1])
report = Report({"machine": "a fast one"}, False, [result])
report.save(folder / "kept.json")
page.write(Report.load(folder / "kept.json"), folder)
"""


def in_benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**clean_environment(), "PYTHONPATH": os.pathsep.join([".", "template"])}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page and the picture of made-up results."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "images").mkdir()
    made = in_benchmarks("-c", PROGRAM, str(folder))
    assert made.returncode == 0, made.stderr
    return folder


def test_figures_targets_and_what_is_missing_are_on_the_page(docs: Path) -> None:
    page = (docs / "reference" / "benchmarks.md").read_text()
    assert "- machine: a fast one" in page
    assert "| ours | 1,234.50 ms |" in page
    assert "| theirs | - |" in page
    assert "| quick | 0.5, hoped for at most 1 | reached |" in page
    assert "| small | 3, hoped for at most 2 | not reached |" in page
    assert "| unknown | - | not measured |" in page
    assert "Left out for want of a part that is missing." in page


def test_the_picture_draws_both_sides_to_scale(docs: Path) -> None:
    picture = (docs / "images" / "benchmarks.svg").read_text()
    # The longer bar fills its line, and a fourth of it is a fourth as long.
    assert "█" * 40 in picture
    assert "█" * 10 + "<" in picture
    assert "@font-face" not in picture


def test_the_page_is_of_a_whole_run_only(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps({"machine": {}, "quick": False, "results": []}))
    refused = in_benchmarks("-m", "benchmarks", "--docs", "--reuse", "--json", str(kept))
    assert refused.returncode != 0
    assert "there is no claim, contention" in refused.stderr


def test_an_unknown_benchmark_is_refused_with_those_that_there_are() -> None:
    refused = in_benchmarks("-m", "benchmarks", "clam")
    assert refused.returncode == 2
    assert "there is no benchmark clam; there are claim, contention" in refused.stderr


def test_the_page_in_the_documentation_is_as_the_program_writes_it() -> None:
    """Nobody has edited it: it has a section for each benchmark, and says on what it was run."""
    page = (ROOT / "docs" / "reference" / "benchmarks.md").read_text()
    for name in ("claim", "contention", "cost", "throughput", "start", "render", "growth"):
        assert f"`make bench ARGS={name}`" in page
    assert "- machine: " in page
    assert "quick run" not in page
