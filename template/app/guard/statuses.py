"""How the guard exits, which platforms and scripts rely on."""

from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """The guard's own exit statuses; every other one is the command's."""

    DONE = 0
    USAGE = 64
    UNAVAILABLE = 69
    FAILED_BEFORE = 70
    NOT_RECORDED = 74
    BUSY = 75
    SETTINGS = 78
    NOT_RUNNABLE = 126
    NOT_FOUND = 127


SIGNALLED: Final = 128
"""Added to the number of the signal that ended the command, as shells do."""

TABLE: Final = """\
exit status:
  0    the command succeeded, now or in an earlier attempt
  64   wrong command line; the command was not run
  69   the store failed; the command was not run
  70   the record says that the run failed for good; the command was not run
  74   the command succeeded, but its record was not written: it will be run
       again, with RECOVERED=1
  75   another attempt is at work, or took the run over; try again later
  78   wrong environment; the command was not run
  126  the command cannot be executed
  127  the command was not found
  128+ a signal ended the command, or stopped the guard before it began; or
       the command ended with 0 after a signal, which does not prove that its
       work was done: it will be run again, with RECOVERED=1
  any other status is the command's own: its claim is released, so that the
  next attempt runs it again
"""
