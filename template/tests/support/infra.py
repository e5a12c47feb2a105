"""The Terraform files in `infra/`, as far as code and deployment have to agree on them."""

import json
from pathlib import Path
from typing import Any, Final

import hcl2

INFRA: Final = Path(__file__).parents[2] / "infra"

ROOT_URL: Final = "https://service.example"
"""Stands for the service's root URL."""


def blocks(name: str, kind: str) -> dict[str, Any]:
    """The resources of a type in a file, by their names, or its local values."""
    parsed = hcl2.loads((INFRA / name).read_text())
    if kind == "locals":
        (values,) = parsed["locals"]
        return dict(values)
    return {
        label.strip('"'): body
        for block in parsed["resource"]
        for found, named in block.items()
        if found.strip('"') == kind
        for label, body in named.items()
    }


def answers() -> dict[str, Any]:
    """The values of the template's answers."""
    parsed = hcl2.loads((INFRA / "answers.auto.tfvars").read_text())
    return {name: plain(value) for name, value in parsed.items() if not name.startswith("__")}


def plain(value: Any) -> Any:
    """A value without the quotes of a text, and with the answers in the place of variables."""
    if not isinstance(value, str) or not value.startswith('"'):
        return value
    text = str(json.loads(value))
    if "${" in text.replace("$${", ""):
        known = answers()
        for variable in ("project", "region", "service"):
            text = text.replace(f"${{var.{variable}}}", known[variable])
        text = text.replace("${local.url}", ROOT_URL)
    return text.replace("$${", "${").replace("%%{", "%{")
