"""The simulator plays against a server that runs already."""

import socket
import threading
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from dev.scheduler import main
from tests.simulator.stub import StubHandler, stub_server


class OnceServer:
    """A right server: the first delivery of a run is processed, all others are duplicates."""

    def __init__(self) -> None:
        self.runs: set[tuple[str, datetime, bool]] = set()
        self.lock = threading.Lock()

    def __call__(self, request: StubHandler) -> tuple[int, str]:
        written = request.headers["X-CloudScheduler-ScheduleTime"].upper()
        time = datetime.fromisoformat(written).astimezone(UTC)
        forced = (time - datetime.now(UTC)).total_seconds() > 10
        run = (request.headers["X-CloudScheduler-JobName"], time, forced)
        with self.lock:
            known = run in self.runs
            self.runs.add(run)
        return 200, "duplicate" if known else "processed"


def simulate(url: str, *options: str) -> int:
    return main(["--url", url, "--min-backoff", "0.01", *options])


class TestRunningServer:
    def test_that_does_each_run_once_passes(self) -> None:
        with stub_server(OnceServer()) as url:
            assert simulate(url, "--duplicates", "4", "--runs", "3") == 0

    def test_that_repeats_runs_fails(self) -> None:
        with stub_server(lambda _: (200, "processed")) as url:
            assert simulate(url, "--scenario", "duplicates") == 1

    def test_that_never_succeeds_fails_after_all_retries(self) -> None:
        attempts = count()

        def failing(_: StubHandler) -> tuple[int, str]:
            next(attempts)
            return 500, "failed"

        with stub_server(failing) as url:
            assert simulate(url, "--runs", "1", "--retry-count", "2") == 1
        assert next(attempts) == 3

    def test_is_sent_the_same_time_in_every_retry(self) -> None:
        """R01."""
        times: list[str] = []

        def second_succeeds(request: StubHandler) -> tuple[int, str]:
            times.append(request.headers["X-CloudScheduler-ScheduleTime"])
            return (200, "processed") if len(times) > 1 else (500, "failed")

        with stub_server(second_succeeds) as url:
            assert simulate(url, "--runs", "1") == 0
        assert times[0] == times[1]

    def test_may_be_simulated_again(self) -> None:
        with stub_server(OnceServer()) as url:
            assert [simulate(url, "--runs", "1") for _ in range(2)] == [0, 0]

    def test_that_goes_by_keys_is_told_so_in_place_of_a_schedule(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """R37."""
        monkeypatch.setattr("dev.options.trait", lambda name: "Key" * (name == "KEY_HEADER"))
        keys: list[str | None] = []

        def processed(request: StubHandler) -> tuple[int, str]:
            keys.append(request.headers["Key"])
            return 200, "processed"

        with stub_server(processed) as url:
            assert simulate(url, "--runs", "1") == 0
        output = capsys.readouterr().out
        assert len(keys) == 1
        assert "a key in Key for each run" in output
        assert "Etc/UTC" not in output

    def test_leaves_a_picture_that_loads_nothing(self, tmp_path: Path) -> None:
        picture = tmp_path / "timeline.svg"
        with stub_server(OnceServer()) as url:
            assert simulate(url, "--runs", "1", "--svg", str(picture)) == 0

        text = picture.read_text(encoding="utf-8")
        assert "processed" in text
        assert "url(" not in text.replace("url(#", "")

    def test_that_is_not_there_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]

        assert simulate(f"http://127.0.0.1:{port}/") == 2
        assert "nothing listens" in capsys.readouterr().out
