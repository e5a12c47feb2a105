"""What can be set about a deployment: by gcloud's scripts, and by Terraform."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import hcl2

from docs.generate import TEMPLATE
from docs.generate.markdown import code, escaped, table

_SETTING: Final = re.compile(r"^[A-Z_]+=\$\{([A-Z_]+):-(.*?)\}(?: #.*)?$", re.MULTILINE)

_MEANINGS: Final = {
    "GOOGLE_CLOUD_PROJECT": "the Google Cloud project",
    "REGION": "the region",
    "SERVICE": "the service's name, from which all other names follow",
    "JOB_ID": "id of the Cloud Scheduler job",
    "SCHEDULE": "its schedule",
    "TIME_ZONE": "the time zone of that",
    "JOB_SCOPE": "where the job tells its project and region",
    "ATTEMPT_DEADLINE_SECONDS": "the job's attempt deadline and the service's request time-out",
    "LEASE_SECONDS": "how soon a crash is noticed",
    "RETENTION_SECONDS": "how long a record is kept",
    "CPU": "of an instance",
    "MEMORY": "of an instance",
    "MAX_INSTANCES": "how many there may be",
    "TARGET": "what a proxy starts; it has to be there",
    "TARGET_ACCOUNT": "the account as which a trigger's builds run, or the one in the tasks' token",
    "STEP_URL": "what the workflow of a proxy calls",
    "STEP_AUDIENCE": "audience of that call's token; the root of the URL by default",
    "CALLERS": "the accounts that may call a step, with commas between them",
    "FIRESTORE_DATABASE": "the database of the records",
    "FIRESTORE_LOCATION": "where new databases are made",
    "SPANNER_INSTANCE": "the instance; one that is there is shared",
    "SPANNER_DATABASE": "the database of the records",
    "REDIS_INSTANCE": "the Memorystore instance",
    "NETWORK": "the network through which Memorystore is reached",
    "SUBNET": "the service's subnetwork there, on Cloud Run",
    "CONNECTOR": "the connector to the network, on App Engine",
    "CONNECTOR_RANGE": "a /28 of addresses for it that nobody else has",
    "WORKFLOW_DATABASE": "the database of a workflow's own records",
    "PYTHON": "the Python that derives the job's retries",
}


def gcloud_settings() -> str:
    """Return a table of the variables that `make setup` and `make deploy` take."""
    found = dict[str, tuple[str, str]]()
    for path in [TEMPLATE / "deploy/config.sh.jinja", *sorted((TEMPLATE / "deploy").rglob("*.sh"))]:
        for name, default in _SETTING.findall(path.read_text(encoding="utf-8")):
            place = path.relative_to(TEMPLATE).as_posix().removesuffix(".jinja")
            found.setdefault(name, (default, place))
    if found.keys() != _MEANINGS.keys():
        raise ValueError(f"docs/generate and deploy/ differ in {found.keys() ^ _MEANINGS.keys()}")
    rows = [
        (code(name), _default(default), meaning, code(place))
        for name, meaning in _MEANINGS.items()
        for default, place in [found[name]]
    ]
    return table(("variable", "default", "is", "in"), rows)


def terraform_variables() -> str:
    """Return a table of Terraform's variables."""
    rows = [
        (
            code(name),
            code(_value(item["default"])) if "default" in item else "has to be given",
            escaped(_text(item["description"])),
            code(f"infra/{path.name}"),
        )
        for path, name, item in _blocks("variable")
    ]
    return table(("variable", "default", "is", "in"), rows)


def terraform_outputs() -> str:
    """Return a table of Terraform's outputs."""
    said = {name: escaped(_text(item["description"])) for _, name, item in _blocks("output")}
    return table(("output", "is"), ((code(name), text) for name, text in said.items()))


def _default(text: str) -> str:
    if answer := re.fullmatch(r"\{\{ (\w+)(.*) \}\}", text):
        return f"the answer {code(answer[1])}" + (", in seconds" if answer[2] else "")
    named = re.sub(r"\$\(fitted (\w+) \d+\)", r"SERVICE-\1", text).replace("$", "")
    return code(named) if named else "none"


def _blocks(kind: str) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    for path in sorted((TEMPLATE / "infra").glob("*.tf")):
        # A block of the kind ends with the first line that is a brace alone. Parsing whole files
        # would take long.
        text = path.read_text(encoding="utf-8")
        for found in re.findall(rf'^{kind} ".*?^}}$', text, re.MULTILINE | re.DOTALL):
            for block in hcl2.loads(found + "\n")[kind]:
                for name, item in block.items():
                    yield path, name.strip('"'), item


def _text(value: str) -> str:
    """Return a string without the quotes and escapes that the parser leaves as they are."""
    return value[1:-1].replace('\\"', '"')


def _value(value: object) -> str:
    return _text(value) or '""' if isinstance(value, str) else json.dumps(value)
