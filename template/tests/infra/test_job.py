"""What the Cloud Scheduler job sends is what the service accepts."""

from urllib.parse import parse_qs, urlsplit

from app import defaults
from app.dedup.delivery import JobScope, is_run_path, read_delivery
from tests.support.infra import answers, blocks, plain


def test_its_attempts_may_take_as_long_as_the_answer_says() -> None:
    """R32."""
    job = blocks("job.tf", "google_cloud_scheduler_job")["job"]
    assert job["attempt_deadline"] == '"${var.attempt_deadline}s"'


def test_its_schedule_is_the_one_that_the_code_knows() -> None:
    """R30."""
    assert answers()["schedule"] == defaults.SCHEDULE
    assert answers()["time_zone"] == defaults.TIME_ZONE


def test_the_service_reads_its_project_and_region() -> None:
    """R05."""
    scope = JobScope(defaults.JOB_SCOPE)
    sent = blocks("scope.tf", "locals")
    place = urlsplit(plain(sent["job_path"]))
    values = {"${var.project}": answers()["project"], "${var.region}": answers()["region"]}
    headers = {name: values[value] for name, value in sent["job_headers"].items()} | {
        "X-CloudScheduler-JobName": answers()["service"],
        "X-CloudScheduler-ScheduleTime": "2026-10-16T12:00:00Z",
    }
    delivery = read_delivery(
        {name.lower(): (value,) for name, value in headers.items()},
        place.path,
        {name: tuple(found) for name, found in parse_qs(place.query).items()},
        scope,
    )
    assert plain(sent["job_scope"]) == scope
    assert is_run_path(place.path, scope)
    told = ("", "") if scope is JobScope.NONE else (answers()["project"], answers()["region"])
    assert (delivery.project, delivery.location) == told
