"""One execution of template/workflow.yaml in workflows-emulator, as a process of its own.

Its gaps are bridged here: connectors go to the Firestore emulator, OIDC tokens are stood for by
their audience, and expressions keep the types of their values.
"""

import base64
import json
import os
import re
import sys
from typing import Any

import requests
import workflows_emulator.lib.helpers
import workflows_emulator.main as engine
import workflows_emulator.render as rendering
from workflows_emulator.lib import http_utils, map_utils, time_utils
from workflows_emulator.main import execute_workflow, load_workflow

FIRESTORE = "https://firestore.googleapis.com/"
LOST_WRITES = os.environ.get("LOST_WRITES", "")
"""Which of the commits take effect without an answer, as `1,3`."""

EXIT_AT = os.environ.get("EXIT_AT", "")
"""The commit before which the process dies, as `2`."""

_commits = 0


def _request(method: str, url: str, **options: Any) -> dict[str, Any]:
    """Send what a workflow sends; errors have the tags that Workflows gives them."""
    auth = options.get("auth") or {}
    headers = dict(options.get("headers") or {})
    if auth.get("type") == "OIDC":
        payload = base64.urlsafe_b64encode(auth.get("audience", url).encode()).decode()
        headers["Authorization"] = f"Bearer {payload}"
    try:
        answer = requests.request(
            method,
            url.replace(FIRESTORE, f"http://{os.environ['FIRESTORE_EMULATOR_HOST']}/"),
            headers=headers,
            json=options.get("body"),
            params=options.get("query"),
            timeout=min(float(os.environ.get("HTTP_TIMEOUT", "300")), options.get("timeout", 300)),
        )
    except requests.Timeout as error:
        raise TimeoutError(str(error)) from error
    except requests.ConnectionError as error:
        raise ConnectionError(str(error)) from error
    answer.raise_for_status()
    kind = answer.headers.get("Content-Type", "")
    body = answer.json() if "application/json" in kind else answer.text
    return {"code": answer.status_code, "headers": dict(answer.headers), "body": body}


def _connector(**options: Any) -> dict[str, Any]:
    """Call Firestore, with the faults that the test wants of its commits."""
    global _commits
    if not options["url"].endswith(":commit"):
        return _request(**options)
    _commits += 1
    if str(_commits) == EXIT_AT:
        os._exit(137)
    answer = _request(**options)
    if str(_commits) in LOST_WRITES.split(","):
        # What Workflows does about a lost answer: it repeats the call.
        return _request(**options)
    return answer


def _value(value: Any) -> Any:
    """Return plain data in place of the emulator's dictionaries."""
    if isinstance(value, dict):
        return {name: _value(each) for name, each in dict.items(value)}
    return [_value(each) for each in value] if isinstance(value, list) else value


def _render(text: Any, context: dict[str, Any]) -> Any:
    """Evaluate a text that is one expression without turning its value into text and back."""
    match = re.fullmatch(r"\$\{(.*)\}", text) if isinstance(text, str) else None
    if match is None:
        return text
    return _value(rendering.run_code(match[1], context))


def _default(value: Any, other: Any) -> Any:
    return other if value is None else value


def _map_get(found: Any, names: str | list[str]) -> Any:
    """Look into nested maps; what is missing on the way is null."""
    for name in [names] if isinstance(names, str) else names:
        if not isinstance(found, dict) or name not in found:
            return None
        found = dict.__getitem__(found, name)
    return found


def _bridge() -> None:
    engine.authenticated_request = _connector
    http_utils.request = _request
    rendering.render_str = _render
    workflows_emulator.lib.helpers.helpers["default"] = _default
    rendering.STANDARD_LIBRARY["default"] = _default
    map_utils.get = _map_get
    parse = time_utils.parse
    time_utils.parse = lambda text: parse(text if "." in text else text.replace("Z", ".0Z"))


def main(source: str, argument: str) -> None:
    """Print what the workflow returns, or the error that it ends with."""
    _bridge()
    try:
        result = execute_workflow(load_workflow(source), {"args": json.loads(argument)})
    except engine.WorkflowError as error:
        payload = error.payload if isinstance(error.payload, dict) else {"message": error.payload}
        answer = {"error": _value(payload)}
    else:
        answer = {"returned": _value(result)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
