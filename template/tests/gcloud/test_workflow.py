"""The workflow is deployed with what it reads, and its records are where they expire."""

import re

import pytest

from tests.gcloud.conftest import Deploy
from tests.support.gcloud import ROOT, Deployed, Stopped, deploy, first_parts

WORKFLOW = (ROOT / "workflow.yaml").read_text()
CHOSEN = {"kind": "proxy", "target": "workflows"}


def variables(done: Deployed) -> dict[str, str]:
    """The environment of the workflow."""
    changes = done.flags("workflows deploy")["--set-env-vars"]
    return dict(item.split("=", 1) for item in changes[3:].split(changes[1]))


def test_it_reads_every_variable(deployed: Deploy) -> None:
    read = set(re.findall(r'sys\.get_env\("(\w+)"', WORKFLOW))
    assert variables(deployed(**CHOSEN)).keys() == {
        name for name in read if not name.startswith("GOOGLE_")
    }


def test_its_token_is_for_the_step_s_root(deployed: Deploy) -> None:
    """R33."""
    told = variables(deployed(**CHOSEN))
    assert told["STEP_URL"].startswith(f"{told['STEP_AUDIENCE']}/")


def test_its_records_expire_where_it_writes_them(deployed: Deploy) -> None:
    """R29, R37."""
    done = deployed(**CHOSEN)
    database = variables(done)["DATABASE"]
    (policy,) = [
        call
        for call in done.calls
        if "--enable-ttl" in call.flags and call.flags["--database"] == database
    ]
    assert policy.words.endswith(" expire_at")
    assert f"/documents/{policy.flags['--collection-group']}/" in WORKFLOW
    assert "expire_at:\n" in WORKFLOW


def test_its_account_may_use_that_database_alone(deployed: Deploy) -> None:
    """R34."""
    done = deployed(**CHOSEN)
    account = done.flags("workflows deploy")["--service-account"]
    assert account != done.service.account
    (role,) = [
        call
        for call in done.calls
        if call.flags.get("--role") == "roles/datastore.user"
        and call.flags["--member"] == f"serviceAccount:{account}"
    ]
    assert role.flags["--condition"].endswith(f'/databases/{variables(done)["DATABASE"]}"')


def test_without_a_step_nothing_is_deployed(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(Stopped, match=r"Set it in deploy/config\.sh") as caught:
        deploy(tmp_path_factory.mktemp("step"), first_parts() | CHOSEN, {"STEP_URL": "step"})
    assert "build and deploy" not in str(caught.value)
