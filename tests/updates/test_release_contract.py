"""The release contract: what earlier releases promised holds, or has a row and a way."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from release_contract import main, release_tags, report
from tests.rendering import ROOT, commit, git, snapshot
from tests.updates.breaks import BREAKS, NEVER, Break, Change
from tests.updates.small import Small
from upgrading import release_of

pytestmark = pytest.mark.slow

each_break = pytest.mark.parametrize("planted", BREAKS.values(), ids=BREAKS)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """The small template, as it was released."""
    return Small.released(tmp_path)


class TestThisTemplate:
    def test_holds_to_it(self) -> None:
        """By the command, and with every release tag that there is."""
        command = [sys.executable, str(ROOT / "hooks" / "release_contract.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("The release contract holds")

    def test_says_what_its_next_version_changes(self) -> None:
        """To owners: in general, and by hand."""
        version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
        for name in ("CHANGELOG.md", "UPGRADING.md"):
            assert f"\n## {version}\n" in (ROOT / name).read_text(), name
        assert all(release_of(tag) <= release_of(version) for tag in release_tags(ROOT))

    def test_would_not_be_released_without_one_of_its_stores(self, tmp_path: Path) -> None:
        template = snapshot(tmp_path)
        (template / "UPGRADING.md").write_text("# Upgrading\n")
        commit(template, "Release")
        git(template, "tag", "v1.0.0")
        questions = template / "copier.yml"
        questions.write_text(questions.read_text().replace("    Spanner: spanner\n", ""))
        said = {finding.what for finding in report(template).findings}
        assert said == {"an update would turn store: spanner into firestore"}


class TestBreak:
    @each_break
    def test_is_refused(self, small: Small, planted: Break) -> None:
        """By a message that names the release."""
        planted.change(small)
        said = small.findings()
        assert any(one.startswith("v1.0.0: ") and planted.said in one for one in said), said

    @each_break
    def test_is_accepted_with_a_row_and_a_way(self, small: Small, planted: Break) -> None:
        planted.change(small)
        if planted.way:
            planted.way(small)
        small.upgrading("1.1.0", planted.row)
        assert small.findings() == []

    @each_break
    def test_is_refused_without_a_row(self, small: Small, planted: Break) -> None:
        """And the remedy is the row to write."""
        planted.change(small)
        if planted.way:
            planted.way(small)
        _, kind, before, *_ = planted.row.split("|")
        (said,) = small.findings()
        assert f"Say in UPGRADING.md: |{kind}|{before}|" in said

    @each_break
    def test_is_refused_with_a_row_for_an_earlier_version(
        self, small: Small, planted: Break
    ) -> None:
        planted.change(small)
        if planted.way:
            planted.way(small)
        small.upgrading("0.9.0", planted.row)
        assert small.findings()

    @pytest.mark.parametrize(
        "planted", [one for one in BREAKS.values() if one.way], ids=lambda one: one.said
    )
    def test_is_refused_without_a_way(self, small: Small, planted: Break) -> None:
        planted.change(small)
        small.upgrading("1.1.0", planted.row)
        assert small.findings()

    @pytest.mark.parametrize(("change", "said", "row"), NEVER.values(), ids=NEVER)
    def test_is_refused_whatever_row_there_is(
        self, small: Small, change: Change, said: str, row: str
    ) -> None:
        change(small)
        small.upgrading("1.1.0", row)
        assert any(said in one for one in small.findings()), small.findings()


class TestNoBreak:
    def test_is_found_in_a_new_question_that_is_read_with_care(self, small: Small) -> None:
        small.change("copier.yml", "lease:\n", 'network:\n  default: "no"\nlease:\n')
        small.change(
            "copier.yml",
            '    {% if store != "spanner" %}\n',
            '    {% if network | default("no") == "yes" %}\n    /app/network.py\n    {% endif %}\n'
            '    {% if store != "spanner" %}\n',
        )
        small.write("template/app/network.py", "")
        assert small.findings() == []

    def test_is_found_in_a_choice_more(self, small: Small) -> None:
        small.change("copier.yml", "[cloud-run, app-engine]", "[cloud-run, app-engine, compute]")
        assert small.findings() == []


class TestCommand:
    def test_says_what_was_compared(self, small: Small, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(small.folder)]) == 0
        assert "4 questions, 5 files; compared with v1.0.0" in capsys.readouterr().out

    def test_says_that_there_is_no_release_yet(
        self, small: Small, capsys: pytest.CaptureFixture[str]
    ) -> None:
        git(small.folder, "tag", "--delete", "v1.0.0")
        git(small.folder, "tag", "release-1")
        assert main([str(small.folder)]) == 0
        assert "compared with no release" in capsys.readouterr().out

    def test_ends_with_1_and_lists_what_it_finds(
        self, small: Small, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (small.folder / "template" / "app" / "spanner.py").unlink()
        assert main([str(small.folder)]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "v1.0.0: the file app/spanner.py is gone"
        assert lines[-1] == "1 break of the release contract; compared with v1.0.0"

    def test_compares_with_every_release(self, small: Small) -> None:
        """What the first has and the second has lost is missed in the third, too."""
        (small.folder / "template" / "app" / "spanner.py").unlink()
        commit(small.folder, "Second release")
        git(small.folder, "tag", "v1.1.0")
        (small.folder / "template" / "app" / "serve.py").unlink()
        assert [one.splitlines()[0] for one in small.findings()] == [
            "v1.0.0: the file app/serve.py is gone",
            "v1.0.0: the file app/spanner.py is gone",
            "v1.1.0: the file app/serve.py is gone",
        ]

    def test_ends_with_2_where_there_is_no_repository(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([str(tmp_path)]) == 2
        assert "cannot be checked" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "row", ["| queston | `lease` | `silence` | nothing |", "| path | Makefile | gone | |"]
    )
    def test_ends_with_2_at_a_row_that_it_cannot_read(
        self, small: Small, capsys: pytest.CaptureFixture[str], row: str
    ) -> None:
        small.upgrading("1.1.0", row)
        assert main([str(small.folder)]) == 2
        assert "UPGRADING.md: line 7" in capsys.readouterr().err

    def test_ends_with_2_at_a_wrong_command_line(self) -> None:
        with pytest.raises(SystemExit) as caught:
            main(["--all"])
        assert caught.value.code == 2
