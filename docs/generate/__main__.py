"""`python -m docs.generate`: write the regions of docs/reference, or tell which are wrong."""

import argparse
import difflib
import sys

from docs.generate import ROOT
from docs.generate.regions import BadPageError, filled

PAGES = ROOT / "docs" / "reference"


def main() -> int:
    """Return 0, or 1 if `--check` has found a page that is not what the sources give."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and show what differs")
    check = parser.parse_args().check
    different = False
    for page in sorted(PAGES.glob("*.md")):
        old = page.read_text(encoding="utf-8")
        try:
            new = filled(old)
        except BadPageError as error:
            sys.exit(f"{page.relative_to(ROOT)}: {error}")
        if new == old:
            continue
        different = True
        if check:
            lines = (old.splitlines(), new.splitlines())
            names = (f"{page.relative_to(ROOT)}", "what the sources give: make reference")
            print(*difflib.unified_diff(*lines, *names, n=0, lineterm=""), sep="\n")
        else:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} is brought up to date")
    return int(check and different)


if __name__ == "__main__":
    sys.exit(main())
