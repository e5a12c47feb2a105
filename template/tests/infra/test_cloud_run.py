"""Cloud Run runs the service as the service needs it."""

from tests.support.infra import blocks


def test_attempts_last_as_long_as_the_requests_may() -> None:
    """R32."""
    job = blocks("job.tf", "google_cloud_scheduler_job")["job"]
    (template,) = blocks("service.tf", "google_cloud_run_v2_service")["service"]["template"]
    assert job["attempt_deadline"] == template["timeout"] == '"${var.attempt_deadline}s"'


def test_a_lease_is_renewed_also_after_the_request_has_timed_out() -> None:
    """R18."""
    (template,) = blocks("service.tf", "google_cloud_run_v2_service")["service"]["template"]
    (container,) = template["containers"]
    (resources,) = container["resources"]
    assert resources["cpu_idle"] is False
    assert "ports" not in container, "the port is Cloud Run's default, which the service obeys"
