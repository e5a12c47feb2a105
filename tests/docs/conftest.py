"""What the tests of the documentation share."""

from pathlib import Path

import pytest

from tests.deployment.conftest import gcloud
from tests.docs.sandbox import Kitchen

__all__ = ["gcloud"]


@pytest.fixture(scope="session")
def kitchen(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    """Makes the places in which commands are run."""
    return Kitchen(tmp_path_factory.mktemp("docs"), template)
