"""Spanner keeps and deletes the records where the service writes them."""

import re
from urllib.parse import parse_qs, urlsplit

from app.dedup.stores import open_store
from app.dedup.stores.spanner_schema import statements
from tests.support.infra import INFRA, blocks, plain


def test_it_has_the_tables_that_the_service_writes() -> None:
    """R29."""
    values = blocks("store_spanner.tf", "locals")
    (path,) = re.findall(r'"\$\{path\.module\}/([^"]+)"', values["statements"])
    schema = (INFRA / path).read_text()
    url = re.sub(r"\$\{[^}]+\}", "runs", plain(values["store_url"]))
    table = parse_qs(urlsplit(url).query)["table"][0]
    assert all(statement in schema for statement in statements(table).values())
    assert "ROW DELETION POLICY" in statements(table)[table]
    open_store(url).close()
