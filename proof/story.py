"""The story of one schedule: a timeline of all that happened."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from proof.world import Process, present


class Story:
    """Keeps what it is told. `str()` is the timeline."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def tell(self, moment: float, who: str, what: str) -> None:
        """Add a line; `moment` is in seconds."""
        self._lines.append(f"{moment:10.3f} s  {who:17}  {what}")

    def __str__(self) -> str:
        """Return a line for each thing that happened, in order."""
        return "\n".join(self._lines)


class StoryHandler(logging.Handler):
    """Adds what the service logs."""

    def __init__(self, story: Story) -> None:
        super().__init__()
        self._story = story

    def emit(self, record: logging.LogRecord) -> None:
        """Add one line of the log."""
        process = present()
        if isinstance(process, Process) and process.machine.alive:
            machine = process.machine
            name = getattr(process.errand, "name", "")
            self._story.tell(
                machine.world.now, f"{machine.name} {name}", f"  log: {record.getMessage()}"
            )


@contextmanager
def told() -> Iterator[Story]:
    """Keep a story of what happens inside, the service's log included."""
    story = Story()
    handler = StoryHandler(story)
    logger = logging.getLogger("app")
    before = (logger.level, logger.propagate, logger.manager.disable)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.disable(logging.NOTSET)
    try:
        yield story
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
        logging.disable(before[2])


@contextmanager
def untold() -> Iterator[None]:
    """Log nothing inside: most schedules have no reader."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
