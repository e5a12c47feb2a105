"""Cloud Run runs the service as the service needs it."""

from tests.support.infra import blocks


def test_a_request_may_take_as_long_as_an_attempt() -> None:
    """R32."""
    (template,) = blocks("service.tf", "google_cloud_run_v2_service")["service"]["template"]
    assert template["timeout"] == '"${var.attempt_deadline}s"'


def test_a_lease_is_renewed_also_after_the_request_has_timed_out() -> None:
    """R18."""
    (template,) = blocks("service.tf", "google_cloud_run_v2_service")["service"]["template"]
    (container,) = template["containers"]
    (resources,) = container["resources"]
    assert resources["cpu_idle"] is False
    assert "ports" not in container, "the port is Cloud Run's default, which the service obeys"
