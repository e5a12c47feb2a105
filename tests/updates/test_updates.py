"""`copier update` from each release, without trust: what is new comes, and what is ours stays."""

import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest

from tests.rendering import ROOT, clean_environment, run
from tests.updates.owner import DELETED, WRITTEN, places_in, work
from tests.updates.project import Project, State, differences, state_of
from tests.updates.versions import (
    MADE_UP,
    ONLY_EARLIER,
    ONLY_LATER,
    RELEASED,
    REMARK,
    Answers,
)

PROFILES = sorted(path.stem for path in ROOT.glob("examples/*.yml"))

each_profile = pytest.mark.parametrize("profile", PROFILES)


class Start(Protocol):
    """Start a project of a profile, as a version makes it."""

    def __call__(self, profile: str, version: str = MADE_UP) -> Project: ...


class Expect(Protocol):
    """What a project has to be like in the end, of which the state before its update is given."""

    def __call__(self, answers: Answers, before: State, *places: tuple[str, str]) -> State: ...


class TestUntouched:
    @each_profile
    def test_becomes_what_a_new_project_is(
        self, start: Start, expect: Expect, profile: str
    ) -> None:
        project = start(profile)
        answers, before = project.answers, state_of(project.folder)
        project.commit()
        project.update()
        assert differences(state_of(project.folder), expect(answers, before)) == []
        assert set(project.status().values()) <= {" M", " D", "??"}


class TestMadeUpRelease:
    def test_differs_in_each_way(self, start: Start) -> None:
        """Above and below each line for additions, in the owner's files, and in the others."""
        folder = start("handler").folder
        for path, line in places_in(folder):
            before, _, after = (folder / path).read_text().partition(line)
            assert REMARK in before.splitlines()[-1]
            assert REMARK in after or not after.strip()
        for path in ("app/job.py", "tests/test_job.py", "app/schedule.py"):
            assert REMARK in (folder / path).read_text()
        assert (folder / ONLY_EARLIER).exists()
        assert not (folder / ONLY_LATER).exists()
        assert not {"forced_runs"} & start("handler").answers.keys()


class TestWork:
    @pytest.mark.parametrize("version", [*RELEASED, MADE_UP])
    @each_profile
    def test_is_kept_and_the_rest_is_new(
        self, start: Start, expect: Expect, version: str, profile: str
    ) -> None:
        """Nothing of the owner's is lost or changed, and nothing is left to settle."""
        project = start(profile, version)
        answers, places = project.answers, work(project.folder)
        before = state_of(project.folder)
        project.commit()
        project.update()
        assert differences(state_of(project.folder), expect(answers, before, *places)) == []
        assert set(project.status().values()) <= {" M", " D", "??"}


SWITCHES: list[tuple[str, Answers, Answers]] = [
    ("handler", {"store": "spanner"}, {}),
    ("handler", {"framework": "fastapi"}, {}),
    ("handler", {"deploy": "terraform"}, {}),
    ("handler", {"platform": "app-engine"}, {"framework": "flask", "auth": "app-engine"}),
    ("handler", {"kind": "proxy"}, {"target": "workflows"}),
    ("workflows-proxy", {"target": "bigquery"}, {}),
    ("step", {"auth": "iam"}, {}),
]
"""Profiles, the answer that is changed, and the answers that follow, as they cannot stay."""


class TestSwitch:
    @pytest.mark.parametrize(
        ("profile", "change", "follows"),
        SWITCHES,
        ids=[f"{profile}:{'='.join(*change.items())}" for profile, change, _ in SWITCHES],
    )
    def test_swaps_its_files_and_no_others(
        self, start: Start, expect: Expect, profile: str, change: Answers, follows: Answers
    ) -> None:
        project = start(profile)
        answers, places = project.answers | change | follows, work(project.folder)
        before = state_of(project.folder)
        project.commit()
        project.update(**change)
        assert differences(state_of(project.folder), expect(answers, before, *places)) == []
        run(project.folder, "ruff", "check", "--no-cache")
        run(project.folder, "ruff", "format", "--check", "--no-cache")
        started = begin(project)
        assert started.returncode == 0, started.stdout + started.stderr

    def test_to_a_job_of_ones_own_asks_for_the_job(self, start: Start, expect: Expect) -> None:
        """No update writes an owner's file, so the service says what is missing."""
        project = start("workflows-proxy")
        answers, places = project.answers | {"kind": "handler"}, work(project.folder)
        before = state_of(project.folder)
        project.commit()
        project.update(kind="handler")
        del answers["target"]
        assert differences(state_of(project.folder), expect(answers, before, *places)) == []
        started = begin(project)
        assert started.returncode == 3
        assert "app/job.py is missing; write it" in started.stdout
        assert "Traceback" not in started.stdout + started.stderr


def begin(project: Project) -> subprocess.CompletedProcess[str]:
    """Start the service as its server does, up to the point at which it would listen."""
    settings = {
        "AUTH": "off",
        "RUN_STORE_URL": "sqlite:///runs.db",
        "TARGET": "projects/p/locations/us-central1/workflows/w",
    }
    if project.answers.get("target") == "bigquery":
        settings["TARGET"] = "projects/p/locations/us-central1"
    return subprocess.run(
        [sys.executable, "-c", "import main"],
        cwd=project.folder,
        env=clean_environment() | settings,
        capture_output=True,
        text=True,
        check=False,
    )


class TestLargerRepository:
    def test_updates_the_folder_and_nothing_else(
        self, start: Start, expect: Expect, tmp_path: Path
    ) -> None:
        """Also while another folder has work that is not committed."""
        root = tmp_path / "larger"
        for path, text in {
            ".gitignore": "*.log\n",
            "Makefile": "all:\n",
            "other/app.py": "",
            "jobs/other/app/job.py": '"""Another job."""\n',
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        project = Project(root / "jobs" / "report")
        start("step").folder.rename(project.folder)
        answers, places = project.answers, work(project.folder)
        before = state_of(project.folder)
        Project(root).commit()
        (root / "other" / "app.py").write_text("# Half-done.\n")
        project.update()
        assert differences(state_of(project.folder), expect(answers, before, *places)) == []
        changed = Project(root).status()
        assert changed.pop("other/app.py") == " M"
        assert all(path.startswith("jobs/report/") for path in changed)


class TestConflict:
    def test_shows_both_and_leaves_the_rest(self, start: Start) -> None:
        """As the README says; and what the owner has deleted stays deleted."""
        project = start("handler")
        schedule = project.folder / "app" / "schedule.py"
        schedule.write_text(schedule.read_text().replace(REMARK, "Ours."))
        (project.folder / "Procfile").unlink()
        project.commit()
        project.update()
        unsettled = [path for path, said in project.status().items() if said == "UU"]
        assert unsettled == ["app/schedule.py"]
        text = schedule.read_text()
        assert text.startswith("<<<<<<< before updating\n# Ours.\n=======\n")
        assert ">>>>>>> after updating\n" in text
        assert not (project.folder / "Procfile").exists()


class TestRecopy:
    def test_mends_what_drifted_and_keeps_what_is_the_owners(
        self, start: Start, expect: Expect
    ) -> None:
        """It also writes again what the owner has added to shared files, or deleted."""
        project = start("handler")
        answers = project.answers
        work(project.folder)
        (project.folder / "app" / "service.py").unlink()
        (project.folder / "app" / "settings.py").write_text("")
        before = state_of(project.folder)
        project.commit()
        project.recopy()
        after = state_of(project.folder)
        fresh = expect(answers, before)
        assert set(differences(after, fresh)) == {DELETED, ONLY_EARLIER}
        assert after["app/job.py"][0].decode() == WRITTEN["app/job.py"]
