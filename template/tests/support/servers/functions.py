"""The Functions Framework, which brings a server of its own."""

from typing import Final

from tests.support.servers import Framework

FRAMEWORK: Final = Framework(
    name="functions",
    command="functions-framework --target=handle_scheduled_job",
    entry="handle_scheduled_job",
    # It has four threads for each processor, and some tests keep more requests waiting at once.
    environ={"THREADS": "16", "WORKERS": "1"},
)
