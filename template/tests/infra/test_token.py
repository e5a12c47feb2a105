"""The job's token is the one that the service expects."""

from tests.support.infra import blocks


def test_audience_and_account_are_what_the_service_is_told() -> None:
    """R33."""
    (target,) = blocks("job.tf", "google_cloud_scheduler_job")["job"]["http_target"]
    (token,) = target["oidc_token"]
    environment = blocks("http_target.tf", "locals")["auth_environment"]
    assert token["audience"] == environment["AUTH_AUDIENCE"]
    assert token["service_account_email"] == environment["AUTH_SERVICE_ACCOUNT"]
