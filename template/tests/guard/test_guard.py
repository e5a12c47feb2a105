"""A guarded command runs once per token, and the exit status says what became of it."""

import json
import subprocess
import sys

import pytest

from app.guard.statuses import Exit
from tests.guard.conftest import PATIENCE, Place, complaint


class TestOnce:
    def test_a_command_that_succeeded_is_not_run_again(self, place: Place) -> None:
        """R11, R37."""
        assert [place.run(), place.run()] == [Exit.DONE, Exit.DONE]
        assert place.effects == ["0"]

    def test_its_exit_status_and_token_are_in_its_record(self, place: Place) -> None:
        """R20."""
        place.run()
        (record,) = place.records()
        assert (record.status, record.result) == ("completed", {"exit_status": 0})
        assert (record.job_name, record.schedule_time) == ("token", None)

    def test_a_command_that_failed_is_run_again(self, place: Place) -> None:
        """R21: nothing is left of it, and its status goes to the platform, which tries again."""
        assert place.run("sys.exit(7)") == 7
        assert place.records() == []
        assert place.run() == Exit.DONE
        assert place.effects == ["0", "0"]

    def test_tokens_steps_tasks_and_services_are_runs_of_their_own(self, place: Place) -> None:
        for _ in range(2):
            place.run()
            place.run("", "--step", "second")
            place.run(IDEMPOTENCY_TOKEN="other")
            place.run(SERVICE="other")
            place.run(CLOUD_RUN_TASK_INDEX="0")
            place.run(CLOUD_RUN_TASK_INDEX="1")
        assert place.effects == ["0"] * 6

    def test_it_says_that_it_takes_over_only_if_it_does(self, place: Place) -> None:
        """Also where the environment says otherwise."""
        place.run(RECOVERED="1")
        assert place.effects == ["0"]


class TestRefusals:
    @pytest.mark.parametrize(
        "argv", [[], ["ls"], ["--"], ["--step", "--", "ls"], ["-x", "--", "a"]]
    )
    def test_a_wrong_command_line_is_explained(self, argv: list[str]) -> None:
        status, said = complaint(argv)
        assert status == Exit.USAGE
        assert "python -m app.guard [--step NAME] -- COMMAND" in said
        assert "Traceback" not in said

    def test_a_step_that_is_no_text_is_explained(self) -> None:
        status, said = complaint(["--step", "\udcff", "--", "ls"])
        assert status == Exit.USAGE
        assert "the NAME of --step is not UTF-8" in said
        assert "Traceback" not in said

    def test_a_wrong_environment_is_explained_as_a_whole(self) -> None:
        status, said = complaint(["--", "ls"], SERVICE="No", LEASE_SECONDS="1")
        assert status == Exit.SETTINGS
        for name in ("IDEMPOTENCY_TOKEN", "RUN_STORE_URL", "SERVICE", "LEASE_SECONDS"):
            assert f"- {name}" in said
        assert "Traceback" not in said

    def test_a_url_that_is_none_is_explained_without_its_password(self) -> None:
        """R39: as by the service."""
        url = "sqlite://[s/cret"
        status, said = complaint(["--", "ls"], RUN_STORE_URL=url, IDEMPOTENCY_TOKEN="t")
        assert status == Exit.SETTINGS
        assert "- RUN_STORE_URL" in said
        assert "cret" not in said
        assert "Traceback" not in said

    def test_a_store_on_the_jobs_own_disk_is_refused(self, place: Place) -> None:
        """R41."""
        settings = {"RUN_STORE_URL": place.url, "IDEMPOTENCY_TOKEN": "t"}
        status, said = complaint(["--", "ls"], **settings, CLOUD_RUN_JOB="job")
        assert (status, "CLOUD_RUN_JOB" in said) == (Exit.SETTINGS, True)

    def test_a_command_that_is_not_there_can_be_mended(self, place: Place) -> None:
        assert place.start("--", "no-such-command").wait() == Exit.NOT_FOUND
        assert place.start("--", str(place.folder)).wait() == Exit.NOT_RUNNABLE
        assert place.run() == Exit.DONE
        assert place.effects == ["0"]


class TestStoreFails:
    def test_before_the_command_it_is_not_run(self, place: Place) -> None:
        """R25: fail closed."""
        assert place.run(RUN_STORE_URL=f"sqlite:///{place.folder}") == Exit.UNAVAILABLE
        assert place.effects == []

    def test_after_the_command_the_platform_is_told(self, place: Place) -> None:
        """R25: the work was done, and nobody will know."""
        script = "import glob\nfor path in glob.glob('runs.db*'): os.remove(path)"
        assert place.run(script) == Exit.NOT_RECORDED
        assert place.effects == ["0"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["no-such-command"], "cannot be started: [Errno 2] No such file or directory"),
        ([sys.executable, "-c", "raise SystemExit(7)"], "ended with status 7"),
    ],
)
def test_why_a_command_failed_is_said_in_one_line(
    place: Place, command: list[str], why: str
) -> None:
    """R39: the guard's own stack has nothing to do with it."""
    settings = {"RUN_STORE_URL": place.url, "IDEMPOTENCY_TOKEN": "t"}
    _, said = complaint(["--", *command], **settings)
    (line,) = [each for each in map(json.loads, said.splitlines()) if each["severity"] == "ERROR"]
    assert line["message"].startswith(f"The job failed: the command {why}")
    assert line["event"] == "failed"
    assert "stack_trace" not in line
    assert "Traceback" not in said


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_guard_without_streams_runs_its_command(place: Place, closed: str) -> None:
    """And what it would say goes nowhere else."""
    ran = place.folder / "ran"
    guard = [
        sys.executable,
        "-m",
        "app.guard",
        "--",
        sys.executable,
        "-c",
        f"open({str(ran)!r}, 'w')",
    ]
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *guard],
        env={"RUN_STORE_URL": place.url, "IDEMPOTENCY_TOKEN": "t"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == Exit.DONE
    assert ran.exists()
    assert done.stdout == ""


def test_what_the_command_prints_is_its_own(place: Place) -> None:
    """The guard's log lines go to stderr."""
    script = "print('mine')"
    settings = {"RUN_STORE_URL": place.url, "IDEMPOTENCY_TOKEN": "t"}
    status, said = complaint(["--", sys.executable, "-c", script], **settings)
    assert status == Exit.DONE
    assert '"event": "completed"' in said
    assert "mine" not in said
