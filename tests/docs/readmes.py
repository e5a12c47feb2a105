"""What generated projects say of themselves, one for each answers file in examples/."""

from pathlib import Path
from typing import Any

import yaml

from tests.docs.markdown import Document
from tests.docs.sandbox import Kitchen
from tests.rendering import ROOT

PAGES = ("README.md", "OPERATIONS.md")
"""In the order in which they are read."""

EXAMPLES: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(ROOT.glob("examples/*.yml"))
}
"""The answers of each example, by its name."""


def readme_of(kitchen: Kitchen, example: str) -> tuple[Document, Path]:
    """Return what a project with an example's answers says of itself, and the project."""
    project = kitchen.rendered(EXAMPLES[example])
    texts = [(project / name).read_text(encoding="utf-8") for name in PAGES]
    return Document(f"the README of {example}", "\n".join(texts)), project
