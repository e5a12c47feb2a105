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


def changed(text: str, changes: Iterable[str]) -> str:
    """Return app.yaml's text with the changes.

    Raises:
        yaml.YAMLError: `text` is no YAML.
    """
    app: dict[str, Any] = yaml.safe_load(text)
    for change in changes:
        name, _, value = change.partition("=")
        if name.isupper():
            app.setdefault("env_variables", {})[name] = value
        elif name == "vpc_access_connector":
            app[name] = {"name": value}
        else:
            app[name] = value
    return yaml.safe_dump(app, sort_keys=False)


if __name__ == "__main__":
    try:
        sys.stdout.write(changed(APP_YAML.read_text(), sys.stdin.read().splitlines()))
    except (OSError, yaml.YAMLError) as error:
        sys.exit(f"app.yaml cannot be read: {error}")
