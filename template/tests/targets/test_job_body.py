"""What the Cloud Scheduler job sends, `job_body.json`, is sent by hand and in a simulation too."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.kinds import proxy
from dev.options import parse
from tests.support.command import Command
from tests.support.stores.sqlite import SqliteHarness

TIME = "2026-10-16T12:00:00Z"
NOW = datetime(2026, 10, 17, tzinfo=UTC)
BODY = '{"report": "nightly"}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be a proxy whose job sends `BODY`, whatever this project is."""
    for place in ("app.kinds.trait", "dev.options.trait"):
        monkeypatch.setattr(place, lambda name: str(getattr(proxy, name, "")))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job_body.json").write_text(f"{BODY}\n")
    return tmp_path


@pytest.fixture
def command(sqlite_harness: SqliteHarness, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(sqlite_harness, capsys)


class TestSimulation:
    def test_sends_it_as_json(self) -> None:
        target = parse([], {}, NOW).target
        assert (target.body, target.content_type) == (BODY.encode(), "application/json")

    def test_sends_another_if_told_to(self) -> None:
        target = parse(["--body", "x"], {}, NOW).target
        assert (target.body, target.content_type) == (b"x", "application/octet-stream")
        assert parse(["--content-type", "text/plain"], {}, NOW).target.content_type == "text/plain"

    def test_sends_none_without_the_file(self, folder: Path) -> None:
        (folder / "job_body.json").unlink()
        assert parse([], {}, NOW).target.body is None

    def test_says_so(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            parse(["--help"], {}, NOW)
        assert "job_body.json" in capsys.readouterr().out


class TestRedo:
    def printed(self, command: Command, *argv: str) -> list[str]:
        data = command.data("redo", TIME, "--dry-run", *argv)
        return shlex.split(data["command"])

    def test_sends_it_as_json(self, command: Command) -> None:
        words = self.printed(command)
        assert words[words.index("--data-raw") + 1] == BODY
        assert "Content-Type: application/json" in words

    def test_sends_it_as_what_a_header_says(self, command: Command) -> None:
        words = self.printed(command, "--header", "content-type: text/plain")
        assert "content-type: text/plain" in words
        assert "Content-Type: application/json" not in words

    @pytest.mark.parametrize("body", ["x", ""])
    def test_sends_another_if_told_to(self, command: Command, body: str) -> None:
        words = self.printed(command, "--body", body)
        assert words[words.index("--data-raw") + 1] == body
        assert "Content-Type: application/json" not in words

    def test_sends_none_without_the_file(self, command: Command, folder: Path) -> None:
        (folder / "job_body.json").unlink()
        words = self.printed(command)
        assert words[words.index("--data-raw") + 1] == ""

    def test_says_so(self, command: Command) -> None:
        assert "job_body.json" in command("redo", "--help").out
