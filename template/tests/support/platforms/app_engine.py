"""App Engine, which is told by a file in the place of app.yaml."""

from collections.abc import Sequence
from typing import Any

import yaml

from app import defaults
from tests.support.platforms import Call, Platform, Service, secrets_in

_CONNECTORS = "compute networks vpc-access connectors create "


def app_yaml(calls: Sequence[Call]) -> dict[str, Any]:
    """Return what is deployed in the place of app.yaml."""
    (given,) = [call.given for call in calls if call.words.startswith("app deploy ")]
    loaded: dict[str, Any] = yaml.safe_load(given)
    return loaded


def _read(calls: Sequence[Call]) -> Service:
    said = app_yaml(calls)
    connector = said.get("vpc_access_connector", {}).get("name", "")
    networks = {
        call.words.removeprefix(_CONNECTORS): call.flags["--network"]
        for call in calls
        if call.words.startswith(_CONNECTORS)
    }
    return Service(
        account=said["service_account"],
        variables=said["env_variables"],
        secrets=secrets_in(said["env_variables"].get("SECRETS", "")),
        own={"GAE_ENV": "standard", "GOOGLE_CLOUD_PROJECT": defaults.GCP_PROJECT},
        network=networks.get(connector.rpartition("/")[2], ""),
    )


PLATFORM = Platform(parts=("app-engine",), command="app deploy ", files=("app.yaml",), read=_read)
