"""`python -m dev.runs`: the records command, by default on the store of `make serve`."""

import os
import sys

from app.records.__main__ import run
from dev.serve import local_environment

if __name__ == "__main__":
    run(sys.argv[1:], local_environment(os.environ))
