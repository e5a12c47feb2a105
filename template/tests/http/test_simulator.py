"""The simulator's faults against real servers, with a job that is none of the owner's."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from dev.kinds import Surroundings
from dev.scheduler import main
from tests.support.servers import PROJECT, Framework, frameworks
from tests.support.servers.process import write_folder

# The simulator needs a moment, between the claim and the end of the work, to hold the store: on a
# busy machine a job that does nothing can be over before. It is asked for so much, not timed.
SERVICE = "create_service(kind(lambda attempt: time.sleep(0.2)))"
IMPORTS = (
    "import time\n\nfrom app.service import create_service\nfrom tests.support.service import kind"
)


@pytest.mark.parametrize("framework", frameworks(), ids=lambda framework: framework.name)
@pytest.mark.parametrize(
    "scenario", ["duplicates", "lost-answer", "late-answer", "crash-before-finish"]
)
def test_each_run_is_done_once_whatever_goes_wrong(
    scenario: str,
    framework: Framework,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """R11, R13, R28, R41."""
    # Whatever this project's kind is, what is served here goes by the schedule and does the work.
    monkeypatch.setattr("dev.options.trait", lambda name: "")
    monkeypatch.setattr("dev.scheduler.surroundings", lambda: nullcontext(Surroundings()))
    text = framework.main(IMPORTS, SERVICE)
    folder = write_folder(tmp_path / "program", framework, text)
    monkeypatch.setattr("dev.server._PROJECT", folder)
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    status = main(["--scenario", scenario])
    output = capsys.readouterr().out
    assert status == 0, output
    assert ("takes over" in output) == scenario.startswith("crash")
    assert ("after the work, before its finish" in output) == scenario.startswith("crash")
