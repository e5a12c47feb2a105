"""A Terraform configuration, read and evaluated without a provider.

Terraform itself evaluates it, offline: each resource becomes a local value of what the
configuration says about it, with made-up values for what Google would add.
"""

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import hcl2

META: Final = frozenset({"count", "for_each", "depends_on", "lifecycle"})
"""What Terraform itself reads in a resource, whatever its type."""

PROJECT_NUMBER: Final = "123456789012"

_REFERENCE: Final = re.compile(r"(?<![\w.\"/])((?:data\.)?google_\w+)\.([a-z_]+)")

# What Google adds to what was asked for. `self` is what was asked for.
_ADDED: Final = {
    "data.google_project": f'{{ number = "{PROJECT_NUMBER}" }}',
    "google_service_account": """{
      email  = "${self.account_id}@${local.made_up.domain}"
      member = "serviceAccount:${self.account_id}@${local.made_up.domain}"
      name   = "projects/${var.project}/serviceAccounts/${self.account_id}@${local.made_up.domain}"
    }""",
    "google_redis_instance": """{
      host            = "10.0.0.3"
      port            = 6378
      auth_string     = "made-up"
      server_ca_certs = [{ cert = "first" }, { cert = "second" }]
    }""",
    "google_secret_manager_secret": '{ id = "projects/${var.project}/secrets/${self.secret_id}" }',
    "google_vpc_access_connector": """{
      id = "projects/${var.project}/locations/${self.region}/connectors/${self.name}"
    }""",
    "google_secret_manager_secret_version": '{ version = "7" }',
}


class RefusedError(Exception):
    """Terraform refuses the configuration; the message is Terraform's."""


@dataclass(frozen=True)
class Resource:
    """A resource or data source as it is written. `type` begins with `data.` for the latter."""

    type: str
    name: str
    body: dict[str, Any]

    @property
    def address(self) -> str:
        """How other blocks refer to it."""
        return f"{self.type}.{self.name}"


@dataclass(frozen=True)
class Configuration:
    """The blocks of all `*.tf` files of a folder, which Terraform reads as one."""

    folder: Path
    resources: tuple[Resource, ...]
    locals: dict[str, Any]
    variables: dict[str, Any]
    outputs: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Configuration":
        """Parse a folder; a name that is given twice is an error, as it is for Terraform."""
        files = [_parsed(path.read_text()) for path in sorted(folder.glob("*.tf"))]
        resources = [
            Resource(prefix + _unquoted(kind), _unquoted(name), _plain(body))
            for prefix, blocks in (("", "resource"), ("data.", "data"))
            for file in files
            for block in file.get(blocks, [])
            for kind, named in _plain(block).items()
            for name, body in named.items()
        ]
        assert len({each.address for each in resources}) == len(resources)
        return cls(
            folder,
            tuple(resources),
            locals=_merged(block for file in files for block in file.get("locals", [])),
            variables=_merged(block for file in files for block in file.get("variable", [])),
            outputs=_merged(block for file in files for block in file.get("output", [])),
        )

    def references(self) -> set[str]:
        """All that the blocks refer to: `var.x`, `local.x` and addresses of resources."""
        blocks = [each.body for each in self.resources] + [self.locals, self.outputs]
        text = json.dumps(blocks)
        named = {f"{kind}.{name}" for kind, name in re.findall(r"\b(var|local)\.(\w+)", text)}
        # A variable's rule names the variable itself, which is no use of it.
        rules = json.dumps(self.variables)
        named |= {f"local.{name}" for name in re.findall(r"\blocal\.(\w+)", rules)}
        return named | {f"{kind}.{name}" for kind, name in _REFERENCE.findall(text)}


def evaluate(
    configuration: Configuration, work: Path, /, *, domain: str, **variables: str
) -> dict[str, Any]:
    """Return the values of all resources by their addresses, and of the outputs by `output.NAME`.

    Resources with `count` are lists, those with `for_each` are dicts. `domain` is that of the
    project's service accounts. `variables` go before what the files say.

    Raises:
        RefusedError: by a validation rule, or because of a name that does not exist.
    """
    work.mkdir()
    for path in configuration.folder.glob("variables_*.tf"):
        shutil.copy(path, work)
    for path in configuration.folder.glob("*.tfvars"):
        shutil.copy(path, work)
    values = {each.address: _resource(each) for each in configuration.resources}
    values |= {
        f"output.{_unquoted(name)}": _text(output["value"])
        for name, output in configuration.outputs.items()
    }
    lines = [f"{name} = {_text(value)}" for name, value in configuration.locals.items()]
    lines += [f"{_local(address)} = {value}" for address, value in values.items()]
    lines.append(f'made_up = {{ domain = "{domain}" }}')
    text = "locals {\n" + "\n".join(lines) + "\n}\n"
    (work / "resources.tf").write_text(text.replace("path.module", f'"{configuration.folder}"'))
    everything = ", ".join(f'"{address}" = local.{_local(address)}' for address in values)
    answer = _terraform(work, f"base64encode(jsonencode({{ {everything} }}))", variables)
    result: dict[str, Any] = json.loads(base64.b64decode(json.loads(answer)))
    return result


@cache
def _parsed(text: str) -> dict[str, Any]:
    """The blocks of a file. Variants have most files in common, and parsing takes its time."""
    return hcl2.loads(text)


def _terraform(work: Path, expression: str, variables: dict[str, str]) -> str:
    options = [f"-var={name}={value}" for name, value in variables.items()]
    result = subprocess.run(
        ["terraform", "console", *options],
        cwd=work,
        input=expression,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = result.stdout.strip().splitlines()
    if result.returncode or "Error:" in result.stderr or len(lines) != 1:
        words = re.sub("\x1b\\[[0-9]+m|│", "", result.stderr or result.stdout).split()
        raise RefusedError(" ".join(words))
    return lines[0]


def _resource(resource: Resource) -> str:
    """The value of a resource as an expression, with what Google adds to it."""
    body = _text({key: value for key, value in resource.body.items() if key not in META})
    if added := _ADDED.get(resource.type):
        body = f"[for self in [{body}] : merge(self, {added})][0]"
    if count := resource.body.get("count"):
        return f"[for index in range({_text(count)}) : {body}]"
    if each := resource.body.get("for_each"):
        return f"{{ for each in {_pairs(_text(each))} : each.key => {body} }}"
    return body


def _pairs(collection: str) -> str:
    """The members of a map or set, as Terraform hands them to a block that is made for each."""
    return f"[for key, value in {collection} : {{ key = key, value = value }}]"


def _text(value: Any) -> str:
    """A parsed value as an expression, in which resources are local values."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str() if value.startswith("${"):
            return _renamed(value[2:-1])
        case str() if value.startswith('"'):
            return _renamed(value)
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case dict():
            pairs = {_unquoted(key): _text(item) for key, item in value.items() if key != "dynamic"}
            for block in value.get("dynamic", []):
                for name, dynamic in _plain(block).items():
                    pairs |= _repeated(_unquoted(name), dynamic, pairs)
            return "{ " + ", ".join(f'"{key}" = {item}' for key, item in pairs.items()) + " }"
        case _:
            return str(value)


def _repeated(name: str, dynamic: dict[str, Any], pairs: dict[str, str]) -> dict[str, str]:
    """The blocks of a name, with those that a dynamic block makes."""
    (content,) = dynamic["content"]
    made = f"[for {name} in {_pairs(_text(dynamic['for_each']))} : {_text(content)}]"
    return {name: f"concat({made}, {pairs.get(name, '[]')})"}


def _renamed(expression: str) -> str:
    return _REFERENCE.sub(lambda found: f"local.{_local(found[0])}", expression)


def _local(address: str) -> str:
    """The name of the local value that stands for a resource or an output."""
    return address.replace(".", "__")


def _unquoted(text: str) -> str:
    return text.strip('"')


def _plain(value: Any) -> Any:
    """A parsed value without the parser's own keys."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if not key.startswith("__")}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _merged(blocks: Iterator[dict[str, Any]]) -> dict[str, Any]:
    merged = dict[str, Any]()
    for block in map(_plain, blocks):
        assert not merged.keys() & block.keys()
        merged |= {_unquoted(key): value for key, value in block.items()}
    return merged
