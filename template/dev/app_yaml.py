"""`python -m dev.app_yaml`: app.yaml with what one deployment changes, for `gcloud app deploy`.

Changes come by standard input, one `NAME=VALUE` in a line: a name in capitals is a variable of the
service, any other is one of app.yaml's own. What app.yaml says besides stays as it is.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

APP_YAML: Final = Path("app.yaml")


class _Dumper(yaml.SafeDumper):
    """Writes all texts in quotes: to gcloud, `1e3` without them would be a number."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write a part out wherever it is used."""
        return True


_Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def changed(text: str, changes: Iterable[str]) -> str:
    """Return app.yaml's text with the changes.

    Raises:
        ValueError: `text` is not what an app.yaml is.
        yaml.YAMLError: `text` is no YAML.
    """
    said = yaml.safe_load(text)
    if not isinstance(said, dict):
        raise ValueError("it has to be a mapping, with `runtime` and so on")
    app: dict[str, Any] = dict(said)
    variables = app.get("env_variables") or {}
    if not isinstance(variables, dict):
        raise ValueError("its env_variables have to be a mapping of names to values")
    app["env_variables"] = dict(variables)
    for change in changes:
        name, _, value = change.partition("=")
        if name.isupper():
            app["env_variables"][name] = value
        elif name == "vpc_access_connector":
            app[name] = {"name": value}
        else:
            app[name] = value
    return yaml.dump(app, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


if __name__ == "__main__":
    try:
        text = APP_YAML.read_text(encoding="utf-8")
        result = changed(text, sys.stdin.read().splitlines()).encode()
    except (OSError, ValueError, yaml.YAMLError) as error:
        sys.exit(f"app.yaml cannot be used: {error}")
    sys.stdout.buffer.write(result)
