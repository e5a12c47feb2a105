"""Free answers that mean something to a file's language: refused with a reason, or unharmed."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import hcl2
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests import matrix
from tests.conftest import Render
from tests.forms import PROGRAMS, parse_fault
from tests.rendering import files_of, part, render

pytestmark = pytest.mark.slow

NAMES = [
    "it's",
    'say "hi"',
    '"""',
    "'''",
    '""" + x + """',
    "back\\slash\\",
    "\\n \\u0041 \\x41 \\N{DASH}",
    "{{ service }}",
    "{% raw %}",
    "{% endraw %}{# x",
    "#{x} #} %}",
    "${x} %{y}",
    "$${x} %%{y} $$${z}",
    "$(id) `id` $HOME %s",
    "# no comment",
    "ends with #",
    "; rm -rf / && x | y > z",
    "- list: {a: b}",
    "a: b",
    "? a",
    "*alias &anchor !tag",
    "@x `y",
    "%YAML 1.2",
    "---",
    "null",
    "true",
    "1e3",
    "0o17",
    "2026-10-16",
    "~",
    "[table]",
    "key = 1",
    "/* x */ // y",
    "<<EOT",
    "| cell | [text](url) ![x](y)",
    "*bold* _it_ ~~gone~~ `code`",
    "1. first",
    "> quoted",
    "</script><script>alert(1)</script>&amp;",
    "<!-- x -->",
    "https://example.com www.example.com a@example.com",
    "\U0001f680 launch \U0001f469\u200d\U0001f4bb",
    "\u05d3\u05d5\u05d7 \u05dc\u05d9\u05dc\u05d9",
    "\u202edesrever\u202c",
    "caf\u00e9 e\u0301 \u0130stanbul",
    "\u65e5\u5831",
    "x" * 60,
    "\U0001f680" * 60,
]
"""Names of projects that are unusual and allowed."""

ATTEMPTS = [
    *NAMES,
    "",
    "   ",
    " x",
    "x ",
    "x\n",
    "x\r\n",
    "x\ry",
    "x\0y",
    "x\x1b[31my",
    "x\x7fy",
    "x\ty",
    "\ufeffx",
    "x\u2028y",
    "\ud800",
    "x" * 10_000,
    "-rf",
    "--help",
    "../../etc/passwd",
    "x/../y",
    "x'; DROP TABLE runs; --",
    "x}y",
    "x:-y",
    "us-central1\n",
    "* * * * *\n",
    "* * * * *;id",
    "* * * * * $(id)",
    "*/15 * * * *\0",
    "\u0661 * * * *",
    "Etc/UTC\n",
    "Etc/$(id)",
    "Etc/UTC'",
    "my-project\n",
    "my-project:x",
    "my-pr\u043eject",
    "nightly-report\u200b",
]

SAFE = {
    "service": r"[a-z][a-z0-9-]*",
    "gcp_project": r"[a-z0-9][a-z0-9.:-]*",
    "region": r"[a-z0-9-]+",
    "schedule": r"[0-9A-Z*,/ -]+",
    "time_zone": r"[A-Za-z][A-Za-z0-9_+/-]*",
}
"""What the other answers are made of: no language that they are written into minds it."""

WORDS = ["null", "true", "no", "on", "y", "e3", "for", "default", "a--b"]
"""Names of services that are words of YAML, HCL or a shell."""

# Pieces that mean something somewhere, between texts that mean nothing.
PIECES = [*NAMES, "\\", '"', "'", "`", "$", "{", "}", "{{", "}}", "%}", "#", "\n", "\0", " "]
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=6).map("".join)
bounded = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def named(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template with no more than the files in which a project's name shows."""
    files = (template / "template").rglob("*.jinja")
    shown = [path for path in files if "project_name" in matrix.names_in(path.read_text())]
    paths = [str(path.relative_to(template / "template")) for path in shown]
    assert {"README.md.jinja", "pyproject.toml.jinja"} < set(paths)
    return part(template, tmp_path_factory.mktemp("named"), *paths)


@pytest.fixture(scope="module")
def projects(named: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Projects with these names."""
    folder = tmp_path_factory.mktemp("projects")
    return {
        name: render(named, folder / f"{number}", {"project_name": name, "deploy": "terraform"})
        for number, name in enumerate(NAMES)
    }


def heading(markdown: str) -> str:
    """The text of the first heading, as a reader sees it."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown)
    inline = tokens[[token.type for token in tokens].index("heading_open") + 1]
    assert {child.type for child in inline.children or ()} <= {"text", "text_special"}
    return "".join(child.content for child in inline.children or ())


def description(project: Path) -> str:
    """What Terraform is told about the project's name."""
    said = hcl2.loads((project / "infra" / "answers.auto.tfvars").read_text())["description"]
    return str(json.loads(said)).replace("$${", "${").replace("%%{", "%{")


def assert_shows(project: Path, name: str) -> None:
    """Check that every file parses, and that the name is in each place as it was given."""
    faults = {path: parse_fault(path, text.decode()) for path, text in files_of(project).items()}
    assert not {path: fault for path, fault in faults.items() if fault}
    metadata = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    assert metadata["description"] == name
    assert heading((project / "README.md").read_text()) == name
    assert yaml.safe_load((project / ".copier-answers.yml").read_text())["project_name"] == name


class TestProjectName:
    @pytest.mark.parametrize("name", NAMES)
    def test_it_arrives_unharmed(self, projects: dict[str, Path], name: str) -> None:
        assert_shows(projects[name], name)
        if "$$" not in name:
            assert description(projects[name]) == name

    def test_terraform_reads_it_too(
        self, terraform: str, projects: dict[str, Path], tmp_path: Path
    ) -> None:
        """All names at once, each under a variable of its own."""
        said = []
        for number, project in enumerate(projects.values()):
            values = (project / "infra" / "answers.auto.tfvars").read_text()
            said += re.findall("^description +(= .*)$", values, re.MULTILINE)
            (tmp_path / f"{number}.tf").write_text(f'variable "n{number}" {{ type = string }}\n')
        lines = [f"n{number} {value}\n" for number, value in enumerate(said)]
        (tmp_path / "names.auto.tfvars").write_text("".join(lines))
        every = ", ".join(f"var.n{number}" for number in range(len(NAMES)))
        done = subprocess.run(
            [terraform, "console"],
            cwd=tmp_path,
            input=f"jsonencode([{every}])",
            capture_output=True,
            text=True,
            check=True,
        )
        # Terraform composes what Unicode lets one write in two ways.
        assert len(said) == len(NAMES)
        read = json.loads(json.loads(done.stdout))
        assert [text.replace("\u00e9", "e\u0301") for text in read] == [
            name.replace("\u00e9", "e\u0301") for name in NAMES
        ]

    @bounded
    @given(name=hostile)
    def test_any_text_is_refused_with_a_reason_or_arrives(
        self, named: Path, tmp_path_factory: pytest.TempPathFactory, name: str
    ) -> None:
        project = tmp_path_factory.mktemp("any") / "project"
        if refusal := matrix.refusal("project_name", name):
            with pytest.raises(ValueError, match=re.escape(refusal)):
                render(named, project, {"project_name": name})
        else:
            assert_shows(render(named, project, {"project_name": name}), name)

    def test_lint_and_format_find_nothing(self, projects: dict[str, Path]) -> None:
        """A render that a formatter changes conflicts at every later update."""
        folder = next(iter(projects.values())).parent
        for command in (["check"], ["format", "--check"]):
            done = subprocess.run(
                [PROGRAMS / "ruff", *command, "--no-cache", folder],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout


class TestOtherAnswers:
    def test_every_free_text_is_tried(self) -> None:
        free = {name for name, item in matrix.questions().items() if item["type"] == "str"}
        assert free - set(matrix.choice_questions()) == {"project_name", *SAFE}

    @pytest.mark.parametrize("question", SAFE)
    def test_what_is_accepted_is_harmless(self, question: str) -> None:
        accepted = [text for text in ATTEMPTS if not matrix.refusal(question, text)]
        assert [text for text in accepted if not re.fullmatch(SAFE[question], text)] == []
        assert not matrix.refusal(question, matrix.defaults()[question])

    @pytest.mark.parametrize("question", SAFE)
    @settings(bounded, max_examples=50)
    @given(text=hostile)
    def test_so_is_any_other_text(self, question: str, text: str) -> None:
        assert matrix.refusal(question, text) or re.fullmatch(SAFE[question], text)

    @pytest.mark.parametrize("question", SAFE)
    @pytest.mark.parametrize("text", ["x\ny", "x\0y", '"; $(id)', "{{ 7 * 7 }}", "x" * 10_000])
    def test_a_hostile_one_is_refused_at_the_prompt(
        self, rendered: Render, question: str, text: str
    ) -> None:
        with pytest.raises(ValueError, match=f"(?s)'{question}': .*(Use|Write|outside of)"):
            rendered(**{question: text})

    @pytest.mark.parametrize("word", WORDS)
    def test_a_word_of_a_language_is_a_name_like_any_other(
        self, rendered: Render, word: str
    ) -> None:
        project = rendered(service=word, platform="app-engine")
        for path in ("app.yaml", ".copier-answers.yml"):
            assert yaml.safe_load((project / path).read_text())["service"] == word
        read = subprocess.run(
            ["bash", "-euc", 'source deploy/config.sh; printf %s "$SERVICE"'],
            cwd=project,
            env={},
            capture_output=True,
            text=True,
            check=True,
        )
        assert read.stdout == word

    @pytest.mark.parametrize("answers", [{"kind": "step"}, {"kind": "handler"}])
    def test_an_answer_that_is_not_asked_for_is_nowhere(
        self, rendered: Render, answers: dict[str, Any]
    ) -> None:
        """Copier takes one, though, and forgets it before the next update."""
        others = {"schedule": "0 4 1 * *", "time_zone": "Asia/Tokyo"}
        unasked = {
            name: matrix.values_of(name)[-1] if "choices" in item else others[name]
            for name, item in matrix.questions().items()
            if not matrix.is_asked(name, matrix.defaults() | answers)
        }
        assert unasked
        assert files_of(rendered(**answers, **unasked)) == files_of(rendered(**answers))
