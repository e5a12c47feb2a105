"""The job's token is one that the service expects."""

from tests.support.infra import blocks


def test_audience_and_account_are_what_the_service_is_told() -> None:
    """R33."""
    (target,) = blocks("job.tf", "google_cloud_scheduler_job")["job"]["http_target"]
    (token,) = target["oidc_token"]
    assert token["audience"] == blocks("token.tf", "locals")["auth_environment"]["AUTH_AUDIENCE"]
    callers = blocks("job_http.tf", "locals")["callers"]
    assert callers == {"caller": token["service_account_email"]}
