"""The reference is what the sources say."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

from jinja2 import nodes

from tests import matrix
from tests.rendering import ROOT

REFERENCE = ROOT / "docs" / "reference"
CHECKS = ("hooks/checks.jinja", "hooks/cron.jinja", "hooks/budget.jinja")
LEAST_WORDS = 3
"""What a refusal says has at least so many words in a row; less is part of a sentence."""


NOT_SETTINGS = {"PATH", "PATH_INFO"}
"""The system's own variable, and one of a WSGI request."""


def reasons() -> Iterator[str]:
    """The longest fixed part of each thing that a check of the questionnaire can say."""
    for path in CHECKS:
        for macro in matrix.parsed((ROOT / path).read_text()).find_all(nodes.Macro):
            if not macro.name.startswith("check_"):
                continue
            for output in macro.find_all(nodes.Output):
                fixed = [one.data.strip() for one in output.find_all(nodes.TemplateData)]
                longest = max(fixed, key=len, default="")
                if len(longest.split()) >= LEAST_WORDS:
                    yield longest


def variables() -> Iterator[str]:
    """The names that code looks up in an environment."""
    for folder in ("app", "dev"):
        for path in (ROOT / "template" / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case (
                        ast.Subscript(ast.Name("environ") | ast.Attribute(attr="environ"), key)
                        | ast.Call(
                            ast.Attribute(
                                ast.Name("environ") | ast.Attribute(attr="environ"), "get"
                            ),
                            [key, *_],
                        )
                        | ast.Compare(
                            key, [ast.In()], [ast.Name("environ") | ast.Attribute(attr="environ")]
                        )
                    ):
                        if isinstance(key, ast.Constant) and key.value not in NOT_SETTINGS:
                            yield str(key.value)


def test_every_page_is_what_the_sources_give() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"run `make reference`\n{result.stdout}{result.stderr}"


def test_everything_that_is_made_is_on_a_page() -> None:
    pages = "".join(path.read_text() for path in REFERENCE.glob("*.md"))
    source = (ROOT / "docs" / "generate" / "regions.py").read_text()
    made = re.findall(r'^    "([a-z ]+)": ', source, re.MULTILINE)
    assert sorted(re.findall(r"<!-- begin: (.*?) -->", pages)) == sorted(made)


def test_every_reason_of_a_refusal_is_shown() -> None:
    page = (REFERENCE / "questions.md").read_text().replace("\\*", "*")
    found = list(reasons())
    assert len(found) > 20
    assert [one for one in found if one not in page] == []


def test_every_variable_that_code_looks_up_is_named() -> None:
    page = (REFERENCE / "environment.md").read_text()
    found = set(variables())
    assert {"K_SERVICE", "GAE_ENV", "TARGET_ENDPOINT"} & found
    assert {name for name in found if f"`{name}`" not in page} == set()
