"""What the deployment tells a proxy is what the proxy starts, and what it may start."""

import pytest

from app.targets import open_target
from tests.gcloud.conftest import Deploy
from tests.support.gcloud import Stopped, deploy, first_parts, parts

every_target = pytest.mark.parametrize("target", parts("target"))


@every_target
def test_the_proxy_knows_its_target(deployed: Deploy, target: str) -> None:
    """R35."""
    done = deployed(kind="proxy", target=target)
    assert open_target(done.environment["TARGET"])


@every_target
def test_the_job_sends_json(deployed: Deploy, target: str) -> None:
    done = deployed(kind="proxy", target=target)
    assert done.job["--message-body-from-file"] == "job_body.json"
    assert "Content-Type=application/json" in done.job["--headers"].split(",")


@every_target
def test_only_the_service_s_account_may_start_it(deployed: Deploy, target: str) -> None:
    """R38."""
    done = deployed(kind="proxy", target=target)
    runner = f"serviceAccount:{done.service.account}"
    others = {call.flags["--member"] for call in done.calls if "--role" in call.flags} - {runner}
    handler = {member.partition("@")[0].rpartition("-")[2] for member in others}
    assert handler <= {"caller", "builder", "workflow"}


@pytest.mark.parametrize("target", [name for name in parts("target") if name != "workflows"])
@pytest.mark.parametrize("name", ["", "nightly", "projects/p/locations/l/somethings/else/more"])
def test_a_target_that_names_nothing_stops_at_once(
    tmp_path_factory: pytest.TempPathFactory, target: str, name: str
) -> None:
    chosen = first_parts() | {"kind": "proxy", "target": target}
    with pytest.raises(Stopped) as caught:
        deploy(tmp_path_factory.mktemp("target"), chosen, {"TARGET": name})
    assert f"TARGET is '{name}', which names nothing to start." in str(caught.value)
    assert "Set it in deploy/config.sh, in the form " in str(caught.value)
    assert "Setting up" not in str(caught.value)
