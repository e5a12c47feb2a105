"""What the owner adds to deploy/config.sh, below the line for that, is deployed too."""

from pathlib import Path

import pytest

from tests.support.gcloud import Deployed, Stopped, deploy, first_parts

ADDED = """\
own_environment=(REPORTS=nightly "NOTE=two words")
LEASE_SECONDS=${LEASE_SECONDS:-45}
RETENTION_SECONDS=${RETENTION_SECONDS:-90000}
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """A deployment with settings of the owner's own, of which the environment changes one."""
    changes = {"RETENTION_SECONDS": "86400"}
    return deploy(tmp_path_factory.mktemp("own"), first_parts(), changes, own=ADDED)


def stopped(folder: Path, own: str) -> str:
    """Return what is said at the stop."""
    with pytest.raises(Stopped) as caught:
        deploy(folder, first_parts(), own=own)
    said = str(caught.value)
    assert "build and deploy" not in said
    return said


def test_variables_of_ones_own_reach_the_service(done: Deployed) -> None:
    assert done.environment["REPORTS"] == "nightly"
    assert done.environment["NOTE"] == "two words"


def test_a_value_of_ones_own_goes_before_the_templates(done: Deployed) -> None:
    assert done.environment["LEASE_SECONDS"] == "45"


def test_the_environment_goes_before_both(done: Deployed) -> None:
    assert done.environment["RETENTION_SECONDS"] == "86400"


def test_a_variable_that_the_deployment_sets_is_refused(tmp_path: Path) -> None:
    """Service and job could disagree otherwise, or the service forget where its records are."""
    said = stopped(tmp_path, "own_environment=(RUN_STORE_URL=sqlite:///runs.db)")
    assert "has RUN_STORE_URL, which the deployment sets" in said
    assert "Take it out" in said


def test_what_is_no_variable_is_refused(tmp_path: Path) -> None:
    assert "'REPORTS', which is no NAME=VALUE" in stopped(tmp_path, "own_environment=(REPORTS)")
