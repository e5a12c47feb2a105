"""`copier update` from each release, without trust: what is new comes, and what is ours stays."""

from pathlib import Path

import pytest

from tests.ownership import sentinels
from tests.rendering import ROOT, sources
from tests.updates.conftest import Expect, Start
from tests.updates.owner import DELETED, WRITTEN, places_in, work
from tests.updates.project import Project, differences, state_of
from tests.updates.versions import (
    MADE_UP,
    ONLY_EARLIER,
    ONLY_LATER,
    RELEASED,
    REMARK,
)

PROFILES = sorted(path.stem for path in ROOT.glob("examples/*.yml"))

ONE_OF_EACH_KIND = {"handler", "workflows-proxy", "step"}

each_profile = pytest.mark.parametrize(
    "profile",
    [
        pytest.param(profile, marks=[] if profile in ONE_OF_EACH_KIND else [pytest.mark.slow])
        for profile in PROFILES
    ],
)


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


class TestPlaceForAdditions:
    def test_is_followed_by_what_no_version_changes(self) -> None:
        """A change of the very next line would meet what the owner has added."""
        texts = {path: (ROOT / path).read_text() for path in sources()}
        following = {
            (path, line): texts[path].partition(f"{line}\n")[2].partition("\n")[0]
            for path, line in sentinels(texts)
        }
        assert len(following) > 10
        assert set(following.values()) == {"", "]"}, following


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
        (project.folder / "app" / "defaults.py").unlink()
        (project.folder / "Procfile").write_text("web: true\n")
        before = state_of(project.folder)
        project.commit()
        project.recopy()
        after = state_of(project.folder)
        fresh = expect(answers, before)
        assert set(differences(after, fresh)) == {DELETED, ONLY_EARLIER}
        assert after["app/job.py"][0].decode() == WRITTEN["app/job.py"]
