"""`init`: create what the store needs."""

from typing import Final

from app.records.arguments import Options
from app.records.context import Context
from app.records.report import Report

INIT_TIMEOUT: Final = 180.0
"""Seconds for all that is made; a database can take a minute."""


def init(options: Options, context: Context) -> Report:
    """Create what the store needs and is not there yet."""
    created = context.store.init(timeout=INIT_TIMEOUT)
    lines = [f"Created {line}." for line in created] or ["There is nothing to create."]
    return Report({"created": created}, "\n".join(lines))
