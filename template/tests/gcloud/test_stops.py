"""The scripts stop before they deploy what cannot work, and say what to do."""

from pathlib import Path

import pytest

from tests.support.gcloud import Stopped, deploy, first_parts


def stopped(folder: Path, *, installed: bool = True, **environment: str) -> str:
    """Return what is said at the stop."""
    with pytest.raises(Stopped) as caught:
        deploy(folder, first_parts(), environment, installed=installed)
    said = str(caught.value)
    assert "build and deploy" not in said
    return said


def test_without_the_versions_to_install(tmp_path: Path) -> None:
    assert "make " in stopped(tmp_path, installed=False).splitlines()[-1]


def test_when_gcloud_fails(tmp_path: Path) -> None:
    said = stopped(tmp_path, FAILING="services enable")
    assert "PERMISSION_DENIED" in said
    assert "Stopped: could not enable the APIs" in said
    assert "roles/serviceusage.serviceUsageAdmin" in said


def test_when_nobody_can_tell_what_is_there(tmp_path: Path) -> None:
    """Something that is there unseen must not be made a second time."""
    said = stopped(tmp_path, FAILING="iam service-accounts describe")
    assert "could not look" in said
    assert "create the account" not in said
