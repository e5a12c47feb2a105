"""What the simulator and `make serve` do on this machine."""

import sqlite3
from pathlib import Path

import pytest

from dev.hold import StoreHold
from dev.serve import checked_port, local_environment, web_command


class TestStoreHold:
    def test_keeps_writers_out_from_the_next_commit_on(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        server = sqlite3.connect(path, isolation_level=None, timeout=0.5)
        server.execute("CREATE TABLE runs (id)")
        hold = StoreHold(path)
        try:
            server.execute("INSERT INTO runs VALUES (1)")
            assert hold.taken.wait(5)
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                server.execute("INSERT INTO runs VALUES (2)")
        finally:
            hold.release()
        server.execute("INSERT INTO runs VALUES (3)")
        server.close()

    def test_ends_without_a_commit(self, tmp_path: Path) -> None:
        hold = StoreHold(tmp_path / "runs.db")
        hold.release()

        assert not hold.taken.is_set()


class TestServe:
    def test_sets_local_defaults_where_the_environment_says_nothing(self) -> None:
        """R41."""
        environ = local_environment({"PORT": "9000", "PATH": "/bin"})

        assert (environ["PORT"], environ["AUTH"]) == ("9000", "off")
        assert environ["RUN_STORE_URL"].startswith("sqlite:///")
        assert environ["PATH"].endswith("/bin")

    def test_starts_the_web_command_of_the_procfile(self) -> None:
        assert web_command("# comment\nweb: serve -b :$PORT main:app\n").startswith("serve")
        with pytest.raises(ValueError, match="web:"):
            web_command("worker: run\n")

    @pytest.mark.parametrize("port", ["", "0", "65536", "99999999", "-1", "http", "\u0661"])
    def test_refuses_a_port_that_is_none(self, port: str) -> None:
        with pytest.raises(ValueError, match="a number from 1 to 65535"):
            checked_port(port)
