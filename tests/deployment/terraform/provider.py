"""What the Google provider accepts, and what is wrong with a configuration in its eyes."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.deployment.terraform.configuration import META, Configuration


@cache
def schema() -> dict[str, Any]:
    """The arguments and blocks of each resource; provider.json says where they are from.

    `required`, `optional` and `computed` are names, `many` and `needed` say how often a block may
    and must be there.
    """
    loaded = json.loads(Path(__file__).with_name("provider.json").read_text())
    resources: dict[str, Any] = loaded["resources"]
    return resources


def problems(configuration: Configuration) -> list[str]:
    """Every argument or block that a resource does not have, lacks, or has too often."""
    return [
        problem
        for resource in configuration.resources
        for problem in (
            _body(resource.body, schema()[resource.type], resource.address)
            if resource.type in schema()
            else [f"{resource.type} is not in provider.json"]
        )
    ]


def attributes(kind: str) -> set[str]:
    """What can be read of a resource."""
    return _names(schema()[kind], "required", "optional", "computed")


def _names(block: dict[str, Any], *kinds: str) -> set[str]:
    return {name for kind in kinds for name in block.get(kind, "").split()}


def _body(body: dict[str, Any], block: dict[str, Any], place: str) -> Iterator[str]:
    blocks = block.get("blocks", {})
    given = dict[str, list[Any]]()
    for name, value in body.items():
        if name == "dynamic":
            for dynamic in value:
                for key, made in dynamic.items():
                    given.setdefault(key.strip('"'), []).extend([*made["content"]] * 2)
        elif name in blocks:
            given.setdefault(name, []).extend(value)
        elif name not in META | _names(block, "required", "optional"):
            yield f"{place} has no argument {name}"
    for name, items in given.items():
        if name not in blocks:
            yield f"{place} has no block {name}"
            continue
        if len(items) > 1 and not blocks[name].get("many"):
            yield f"{place} takes one {name}, not {len(items)}"
        for item in items:
            yield from _body(item, blocks[name], f"{place}.{name}")
    needed = {name for name, inner in blocks.items() if inner.get("needed")}
    for name in sorted((_names(block, "required") | needed) - body.keys() - given.keys()):
        yield f"{place} lacks {name}"
