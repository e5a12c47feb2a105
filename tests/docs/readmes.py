"""The READMEs of generated projects, one for each answers file in examples/."""

from pathlib import Path
from typing import Any

import yaml

from tests.docs.markdown import Document
from tests.docs.sandbox import Kitchen
from tests.rendering import ROOT

EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(ROOT.glob("examples/*.yml"))
}
"""The answers of each example, by its name."""


def readme_of(kitchen: Kitchen, example: str) -> tuple[Document, Path]:
    """Return the README of a project with an example's answers, and the project."""
    project = kitchen.rendered(EXAMPLES[example])
    text = (project / "README.md").read_text(encoding="utf-8")
    return Document(f"the README of {example}", text), project
