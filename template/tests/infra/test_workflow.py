"""The workflow is deployed with what it reads, and its records are where they expire."""

import re

from tests.support.infra import INFRA, blocks, plain

WORKFLOW = (INFRA.parent / "workflow.yaml").read_text()


def test_it_reads_every_variable() -> None:
    told = blocks("target_workflows.tf", "google_workflows_workflow")["workflow"]["user_env_vars"]
    read = set(re.findall(r'sys\.get_env\("(\w+)"', WORKFLOW))
    assert told.keys() == {name for name in read if not name.startswith("GOOGLE_")}


def test_its_records_expire_where_it_writes_them() -> None:
    """R29, R37."""
    field = blocks("target_workflows.tf", "google_firestore_field")["workflow"]
    assert "ttl_config" in field
    assert plain(field["field"]) == "expire_at"
    collection = plain(blocks("target_workflows.tf", "locals")["workflow_collection"])
    assert field["collection"] == "${local.workflow_collection}"
    assert f"/documents/{collection}/" in WORKFLOW
    assert "expire_at:\n" in WORKFLOW
