"""Those who may call a step are those whom the platform and the service let in."""

import pytest

from app.settings import Settings
from tests.gcloud.conftest import Deploy
from tests.support.gcloud import Stopped, deploy, first_parts, parts

CALLERS = ["one@example.iam.gserviceaccount.com", "two@example.iam.gserviceaccount.com"]


@pytest.mark.parametrize("auth", parts("auth"))
def test_platform_and_service_let_the_same_accounts_in(deployed: Deploy, auth: str) -> None:
    """R33."""
    done = deployed(kind="step", auth=auth)
    assert Settings.from_environ(done.environment).auth_service_account == ",".join(CALLERS)
    invokers = [
        call.flags["--member"].removeprefix("serviceAccount:")
        for call in done.calls
        if call.flags.get("--role") == "roles/run.invoker"
    ]
    assert invokers == (CALLERS if auth == "iam" else [])


def test_no_job_calls_it(deployed: Deploy) -> None:
    done = deployed(kind="step")
    assert not [call for call in done.calls if call.words.startswith("scheduler ")]
    assert "cloudscheduler.googleapis.com" not in done.flags("services enable")
    assert not {"SCHEDULE", "TIME_ZONE", "JOB_ID"} & done.environment.keys()


@pytest.mark.parametrize("callers", ["", "nobody", "one@example.com,", "a b@example.com"])
def test_without_a_caller_nothing_is_deployed(
    tmp_path_factory: pytest.TempPathFactory, callers: str
) -> None:
    with pytest.raises(Stopped, match=r"Set it in deploy/config\.sh") as caught:
        deploy(
            tmp_path_factory.mktemp("callers"),
            first_parts() | {"kind": "step"},
            {"CALLERS": callers},
        )
    assert "build and deploy" not in str(caught.value)
