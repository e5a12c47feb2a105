"""`python -m dev.runs`: the records command, by default on the store of `make serve`."""

import os
import sys
from collections.abc import Mapping

from app.records.__main__ import run
from dev.serve import LOCAL_DEFAULTS, local_environment


def records_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with the local defaults, as far as they are true of its store.

    Only the local store is surely that of `make serve`, which asks nobody for a token.
    """
    local = local_environment(environ)
    if local["RUN_STORE_URL"] != LOCAL_DEFAULTS["RUN_STORE_URL"] and "AUTH" not in environ:
        del local["AUTH"]
    return local


if __name__ == "__main__":
    run(sys.argv[1:], records_environment(os.environ))
