"""`python -m benchmarks`: run some or all, print tables, and keep the results."""

import argparse
from importlib import import_module
from pathlib import Path
from typing import Final

from rich.console import Console

from benchmarks import machine, page, report
from benchmarks.parts import Parts
from benchmarks.results import Report, Result

ROOT: Final = Path(__file__).resolve().parent.parent
NAMES: Final = ("claim", "contention", "cost", "throughput", "start", "render", "growth")
"""The benchmarks, in the order in which they are run and shown; each is a module."""


def main() -> None:
    """Run what the command line asks for."""
    options = _options()
    console = Console()
    if options.reuse:
        found = Report.load(options.json)
    else:
        found = Report(machine.describe(), options.quick, [])
        with Parts() as parts:
            for name in options.names or NAMES:
                with console.status(f"{name} ..."):
                    result: Result = import_module(f"benchmarks.{name}").measure(
                        parts, quick=options.quick
                    )
                found.results.append(result)
                report.show(console, result)
        found.save(options.json)
    if options.docs:
        left_out = [name for name in NAMES if name not in {each.name for each in found.results}]
        if left_out:
            raise SystemExit(f"The page needs all benchmarks; there is no {', '.join(left_out)}.")
        for path in page.write(found, ROOT / "docs"):
            console.print(f"written: {path.relative_to(ROOT)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure what this costs.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"only these; one of {', '.join(NAMES)}"
    )
    parser.add_argument("--quick", action="store_true", help="as little as shows that it works")
    parser.add_argument("--docs", action="store_true", help="write docs/reference/benchmarks.md")
    parser.add_argument(
        "--reuse", action="store_true", help="measure nothing; take the results of the last run"
    )
    parser.add_argument(
        "--json",
        type=Path,
        default=ROOT / "build" / "benchmarks.json",
        metavar="PATH",
        help="where the results are kept (build/benchmarks.json)",
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if options.docs and options.names:
        parser.error("--docs takes the results of all benchmarks; leave out the names")
    return options


if __name__ == "__main__":
    main()
