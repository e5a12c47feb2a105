"""The simulator's faults against this project's own server: each run is done exactly once."""

import pytest

from dev.scheduler import main


class TestServer:
    @pytest.mark.parametrize(
        "scenario", ["duplicates", "lost-answer", "late-answer", "crash-before-finish"]
    )
    def test_does_each_run_once_whatever_goes_wrong(
        self, scenario: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """R11, R13, R28, R41."""
        status = main(["--scenario", scenario])

        output = capsys.readouterr().out
        assert status == 0, output
        assert ("takes over" in output) == scenario.startswith("crash")
