"""`init`: create what the store needs."""

from app.records.arguments import Options
from app.records.context import TIMEOUT, Context
from app.records.report import Report


def init(options: Options, context: Context) -> Report:
    """Create what the store needs and is not there yet."""
    created = context.store.init(timeout=TIMEOUT)
    lines = [f"Created {line}." for line in created] or ["There is nothing to create."]
    return Report({"created": created}, "\n".join(lines))
