"""Copier's command line, in a third of its time."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from copier._cli import CopierApp

from tests.rendering import quick_renders

if __name__ == "__main__":
    with quick_renders():
        CopierApp.run()
