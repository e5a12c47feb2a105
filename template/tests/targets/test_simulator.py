"""A simulated day with an API that loses answers, on a real server: each run is started once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dev import targets
from dev.kinds import proxy, scenarios, surroundings
from dev.scheduler import main
from tests.support.servers import PROJECT, frameworks
from tests.support.servers.process import write_folder

# Nobody waits half a minute here for what takes effect at once.
IMPORTS = """\
import os

from app.dedup import runner
from app.environment import Reader
from app.kinds import open_kind
from app.service import create_service

runner.SETTLE = 1.0"""
SERVICE = 'create_service(open_kind("proxy", Reader(os.environ)))'

Play = Callable[[targets.Api, str], tuple[int, str]]
"""Returns the exit status and the output."""

CASES = [
    *((target, "target-lost-answer") for target in targets.names()),
    *((targets.names()[0], name) for name in ("target-lost-request", "target-unavailable")),
]


@pytest.fixture
def play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Play:
    """Play a scenario against a proxy of an API, whatever this project is."""

    def played(api: targets.Api, scenario: str) -> tuple[int, str]:
        monkeypatch.setattr(proxy, "open_api", lambda name: api)
        monkeypatch.setattr("dev.scheduler.surroundings", lambda: surroundings("proxy"))
        monkeypatch.setattr("dev.options.scenarios", lambda: scenarios("proxy"))
        monkeypatch.setattr("dev.options.trait", lambda name: "")
        framework = frameworks()[0]
        text = framework.main(IMPORTS, SERVICE)
        folder = write_folder(tmp_path / "program", framework, text)
        monkeypatch.setattr("dev.server._PROJECT", folder)
        monkeypatch.setenv("PYTHONPATH", str(PROJECT))
        return main(["--scenario", scenario, "--min-backoff", "2"]), capsys.readouterr().out

    return played


@pytest.mark.parametrize(("target", "scenario"), CASES)
def test_each_run_is_started_once_whatever_is_lost(play: Play, target: str, scenario: str) -> None:
    """R22, R36."""
    status, output = play(targets.open_api(target), scenario)
    assert status == 0, output
    assert "outcome unknown" in output
    assert "✔ once" in output


def test_the_verdict_counts_what_was_started(play: Play) -> None:
    """R36: where the search sees nothing, there is a second start."""
    apis = map(targets.open_api, targets.names())
    api = next((api for api in apis if isinstance(api, targets.SearchedApi)), None)
    if api is None:
        pytest.skip("this API keeps a request id itself")
    api.blind = True
    status, output = play(api, "target-lost-answer")
    assert status == 1, output
    assert "✗ started 2 times" in output
