"""Writes what docs/reference says of the code, from the code: `make reference`.

A page in docs/reference is prose with marked regions. The name of a region is a key of
`docs.generate.regions.REGIONS`, which makes its text from the template's own modules, its
questionnaire, its Makefiles and its deployment files.
"""

import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The repository."""

TEMPLATE: Final = ROOT / "template"
"""The template's project, whose package `app` is read and imported."""

sys.path += [str(TEMPLATE), str(ROOT / "hooks")]
