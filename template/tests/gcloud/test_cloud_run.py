"""Cloud Run runs the service as the service needs it."""

import pytest

from tests.gcloud.conftest import Deploy
from tests.support.gcloud import parts

every_platform = pytest.mark.parametrize("platform", parts("platform"))
every_auth = pytest.mark.parametrize("auth", parts("auth"))


@every_platform
def test_a_request_may_take_as_long_as_an_attempt(deployed: Deploy, platform: str) -> None:
    """R32."""
    done = deployed(platform=platform)
    assert (
        done.flags("run deploy")["--timeout"] == f"{done.environment['ATTEMPT_DEADLINE_SECONDS']}s"
    )


@every_platform
def test_a_lease_is_renewed_outside_of_requests(deployed: Deploy, platform: str) -> None:
    """R18: an attempt goes on when its request has timed out."""
    assert "--no-cpu-throttling" in deployed(platform=platform).flags("run deploy")


@every_auth
def test_it_checks_the_caller_unless_the_service_does(deployed: Deploy, auth: str) -> None:
    """R33."""
    done = deployed(auth=auth)
    checked = auth == "iam"
    assert ("--invoker-iam-check" in done.flags("run deploy")) is checked
    assert ("--no-invoker-iam-check" in done.flags("run deploy")) is not checked
    invokers = [
        call.flags["--member"]
        for call in done.calls
        if call.flags.get("--role") == "roles/run.invoker"
    ]
    allowed = done.environment["AUTH_SERVICE_ACCOUNT"].split(",")
    assert invokers == ([f"serviceAccount:{account}" for account in allowed] if checked else [])
