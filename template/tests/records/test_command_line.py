"""The command as a process: its errors, its exit statuses, its defaults (R40)."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.records.__main__ import run
from app.records.report import Exit
from app.records.settings import RecordsSettings
from dev.runs import records_environment
from dev.serve import LOCAL_DEFAULTS
from tests.support.command import ENVIRON, Command, end, run_at
from tests.support.faults import Kind
from tests.support.servers import PROJECT
from tests.support.settings import settings
from tests.support.stores import Harness, lossy, movable

COMMANDS = {
    "list": ["list"],
    "show": ["show", "2026-10-16T12:00:00Z"],
    "missed": ["missed", "--since", "1h"],
    "stuck": ["stuck"],
    "release": ["release", "2026-10-16T12:00:00Z"],
    "redo": ["redo", "2026-10-16T12:00:00Z"],
    "init": ["init"],
}

each_command = pytest.mark.parametrize("argv", COMMANDS.values(), ids=COMMANDS.keys())


def process(
    *argv: str, folder: Path, module: str = "app.records", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with nothing but `environ` said about it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", module, *argv],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(PROJECT), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


class TestError:
    @movable
    @each_command
    def test_of_the_environment_lists_all_that_is_wrong(
        self, command: Command, argv: list[str]
    ) -> None:
        done = command(*argv, RUN_STORE_URL="", SERVICE="Not A Name", RETENTION_SECONDS="0")
        assert (done.status, done.out) == (Exit.FAILED, "")
        assert [line.split(":")[0].split(" ")[1] for line in done.err.splitlines()[1:]] == [
            "SERVICE",
            "RUN_STORE_URL",
            "RETENTION_SECONDS",
        ]

    @movable
    @each_command
    def test_of_authentication_is_none_of_the_commands(
        self, command: Command, argv: list[str]
    ) -> None:
        """It needs no AUTH, and none that is right."""
        done = command(*argv, AUTH="nonsense")
        assert "AUTH" not in done.err
        assert done.status in (Exit.DONE, Exit.SEE_TO)

    @lossy
    @pytest.mark.parametrize("name", ["list", "show", "missed", "stuck", "release", "redo"])
    def test_of_the_store_is_one_message(
        self, harness: Harness, command: Command, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """R25: as the store tells it, without a traceback."""
        for module in ("context", "reading", "missed"):
            monkeypatch.setattr(f"app.records.{module}.TIMEOUT", 0.2)
        harness.faults.plan = [Kind.LOST_REQUEST] * 100
        done = command(*COMMANDS[name])
        assert (done.status, done.out) == (Exit.FAILED, "")
        assert done.err.startswith("The store failed: ")
        assert "injected" in done.err
        assert done.err.count("\n") == 1

    @movable
    @pytest.mark.parametrize(
        "argv",
        [
            ["nothing"],
            ["list", "--status", "unknown"],
            ["list", "--sinc", "1h"],
            ["show"],
            ["redo"],
            ["release", "0" * 64, "extra"],
            ["stuck", "--force"],
        ],
    )
    def test_of_the_command_line_tells_the_usage(self, command: Command, argv: list[str]) -> None:
        done = command(*argv)
        assert (done.status, done.out) == (Exit.FAILED, "")
        assert done.err.startswith("usage: python -m app.records")

    def test_of_any_kind_ends_a_process_without_a_traceback(self, tmp_path: Path) -> None:
        for url in ("", "nowhere", "sqlite:////proc/none/runs.db", "sqlite:///\udcff"):
            done = process("list", folder=tmp_path, RUN_STORE_URL=url)
            assert (done.returncode, done.stdout) == (Exit.FAILED, "")
            assert "Traceback" not in done.stderr
            assert done.stderr

    @pytest.mark.parametrize("redirection", [">&-", ">/dev/full", ">&- 2>&-"])
    def test_of_the_output_is_one_line_with_its_own_status(
        self, tmp_path: Path, redirection: str
    ) -> None:
        """Status 1 would say that there is something to see to."""
        shell = f'exec "{sys.executable}" -m app.records list {redirection}'
        kept = {**os.environ, "PYTHONPATH": str(PROJECT), "RUN_STORE_URL": "sqlite:///runs.db"}
        done = subprocess.run(
            ["sh", "-c", shell], cwd=tmp_path, env=kept, capture_output=True, text=True, check=False
        )
        assert done.returncode == Exit.FAILED
        assert done.stderr.startswith("" if "2>" in redirection else "The command failed: OSError")
        assert done.stderr.count("\n") <= 1

    def test_that_nobody_foresaw_is_one_line_too(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        def fail(*args: object) -> None:
            raise RuntimeError("a\nsurprise")

        monkeypatch.setattr("app.records.__main__.main", fail)
        monkeypatch.setattr("app.records.__main__._drop_output", lambda: None)
        monkeypatch.setattr(logging, "disable", lambda: None)
        with pytest.raises(SystemExit) as stopped:
            run([], {})
        assert stopped.value.code == Exit.FAILED
        assert capfd.readouterr().err == "The command failed: RuntimeError: a?surprise\n"


class TestExitStatus:
    def test_is_explained_by_the_help(self, tmp_path: Path) -> None:
        done = process("--help", folder=tmp_path)
        assert done.returncode == Exit.DONE
        for status in Exit:
            assert f"\n  {status.value}  " in done.stdout

    @each_command
    def test_of_help_is_good_for_each_command(self, command: Command, argv: list[str]) -> None:
        done = command(argv[0], "--help")
        assert (done.status, done.err) == (Exit.DONE, "")
        assert "--json" in done.out

    def test_is_quiet_where_nobody_reads_on(self, tmp_path: Path) -> None:
        kept = {**os.environ, "PYTHONPATH": str(PROJECT), "RUN_STORE_URL": "sqlite:///runs.db"}
        command = [sys.executable, "-m", "app.records", "list"]
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            command, cwd=tmp_path, env=kept, stdout=writing, stderr=subprocess.PIPE, check=False
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (Exit.DONE, b"")


class TestInit:
    def test_of_a_store_in_use_has_nothing_to_do_and_says_so(
        self, harness: Harness, command: Command
    ) -> None:
        end(harness, run_at(harness.now()))
        done = command("init")
        assert (done.status, done.out) == (Exit.DONE, "There is nothing to create.\n")
        assert command.data("init") == {"created": []}

    def test_makes_the_file_of_an_embedded_store_once(self, tmp_path: Path) -> None:
        """R41."""
        url = f"sqlite:///{tmp_path}/new/runs.db"
        first = process("init", "--json", folder=tmp_path, RUN_STORE_URL=url)
        assert (tmp_path / "new" / "runs.db").exists()
        assert [str(tmp_path) in line for line in json.loads(first.stdout)["created"]] == [True]
        second = process("init", "--json", folder=tmp_path, RUN_STORE_URL=url)
        assert json.loads(second.stdout) == {"created": []}


class TestLocalCommand:
    def test_has_the_store_of_the_local_server(self, tmp_path: Path) -> None:
        """R41: `make runs` shows what `make serve` has done."""
        done = process("list", module="dev.runs", folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, "0 records in sqlite:///.local/runs.db.\n")
        assert (tmp_path / ".local" / "runs.db").exists()

    def test_has_another_where_the_environment_names_one(self, tmp_path: Path) -> None:
        done = process(module="dev.runs", folder=tmp_path, RUN_STORE_URL="sqlite:///x.db")
        assert done.stdout == "0 records in sqlite:///x.db.\n"

    @pytest.mark.parametrize(
        ("environ", "auth"),
        [
            ({}, "off"),
            ({"RUN_STORE_URL": LOCAL_DEFAULTS["RUN_STORE_URL"]}, "off"),
            ({"RUN_STORE_URL": "sqlite:///x.db"}, None),
            ({"RUN_STORE_URL": "sqlite:///x.db", "AUTH": "off"}, "off"),
            ({"AUTH": "iam"}, "iam"),
        ],
    )
    def test_takes_the_service_for_an_open_one_only_with_the_local_store(
        self, environ: dict[str, str], auth: str | None
    ) -> None:
        """R40: what another store is about asks for a token, unless the environment says no."""
        assert records_environment(environ).get("AUTH") == auth

    def test_passes_its_exit_status_on(self, tmp_path: Path) -> None:
        argv = ("show", "0" * 64)
        assert process(*argv, module="dev.runs", folder=tmp_path).returncode == Exit.SEE_TO


def test_settings_are_the_services_own() -> None:
    """R08: the command and the service make the same keys of the same environment."""
    found = RecordsSettings.from_environ(ENVIRON)
    expected = settings(run_store_url=found.run_store_url)
    for name in ("service", "job_scope", "separate_forced_runs", "retention", "gcp_project"):
        assert getattr(found, name) == getattr(expected, name)
