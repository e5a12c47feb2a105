"""`python -m proof.mutation`: put each weakness back, and see the test that catches it fail.

`mutants.toml` is the list. A mutant's test runs in a copy of the template, where it passes before
and fails after. How it fails is looked at, so that a typing error does not pass for a catch.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.etree import ElementTree

ROOT: Final = Path(__file__).parents[1]
LIST: Final = Path(__file__).with_name("mutants.toml")
PAGE: Final = ROOT / "docs" / "reference" / "mutation-proof.md"

_OF_ROOT: Final = ("proof", "tests/proof", "tests/ports.py", "pyproject.toml")
_ASSERTIONS: Final = ("assert ", "AssertionError", "Failed: DID NOT RAISE")
_ALIVE: Final = "NOT CAUGHT: "
_LEFT_OUT: Final = shutil.ignore_patterns(".local", ".hypothesis", ".mypy_cache", ".ruff_cache")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One weakness, put back into one file.

    Attributes:
        row: Number of the weakness.
        weakness: What the documented sample does.
        fault: What the code does then.
        file: Path in the template.
        old: Text that is there once.
        new: Text in its place.
        test: The test that catches it, as pytest names it.
        fails: How it fails: with an assertion, or with an exception of this name.
    """

    row: int
    weakness: str
    fault: str
    file: str
    old: str
    new: str
    test: str
    fails: str = "assertion"

    def put_into(self, template: Path) -> None:
        """Change the file.

        Raises:
            ValueError: the old text is not there, or more than once.
        """
        path = template / self.file
        text = path.read_text(encoding="utf-8")
        if (count := text.count(self.old)) != 1:
            raise ValueError(
                f"row {self.row}, {self.fault!r}: its old text occurs {count} times in"
                f" template/{self.file}; bring {LIST.name} up to date"
            )
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A weakness that no code of the template's Python holds, and what does."""

    row: int
    weakness: str
    held: str


@dataclass(frozen=True, slots=True)
class Weaknesses:
    """The whole list."""

    mutants: tuple[Mutant, ...]
    elsewhere: tuple[Elsewhere, ...]

    @classmethod
    def read(cls, path: Path = LIST) -> "Weaknesses":
        """Read the list."""
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(
            tuple(Mutant(**each) for each in found["mutant"]),
            tuple(Elsewhere(**each) for each in found["elsewhere"]),
        )

    def page(self) -> str:
        """Return the page about it."""
        rows = [
            (each.row, f"| {each.row} | {each.weakness} | {each.fault} | {_linked(each)} |")
            for each in self.mutants
        ]
        rows += [
            (each.row, f"| {each.row} | {each.weakness} | not in code | {each.held} |")
            for each in self.elsewhere
        ]
        table = "\n".join(row for _, row in sorted(rows, key=lambda row: row[0]))
        text = LIST.with_name("mutation_proof.md").read_text(encoding="utf-8")
        return text.format(count=len(self.mutants), table=table)


@dataclass(frozen=True, slots=True)
class Report:
    """How a test ended: the first line of each failure."""

    failures: tuple[str, ...]


def caught(mutant: Mutant) -> str:
    """Return how the mutant's test failed.

    Raises:
        ValueError: it did not, or in another way than it should.
    """
    with copied(mutant.test) as folder:
        mutant.put_into(folder / "template")
        reports = outcomes([mutant.test], folder)
    for report in reports:
        for line in report.failures:
            if mutant.fails in line or (
                mutant.fails == "assertion" and line.startswith(_ASSERTIONS)
            ):
                return line
    found = "; ".join(line for report in reports for line in report.failures) or "it passed"
    raise ValueError(
        f"row {mutant.row}, {mutant.fault!r}: {mutant.test} does not catch it: {found}"
    )


def outcomes(tests: Sequence[str], folder: Path) -> list[Report]:
    """Run tests of one place in a copy; return a report for each that ran."""
    of_root = tests[0].startswith("tests/proof")
    result = folder / "result.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--junitxml={result}",
    ]
    done = subprocess.run(
        [*command, *tests],
        cwd=folder if of_root else folder / "template",
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise ValueError(f"pytest did not run its tests: {done.stdout}{done.stderr}")
    cases = ElementTree.parse(result).iter("testcase")  # noqa: S314 pytest wrote it
    return [
        Report(tuple(str(one.get("message")) for one in case if one.tag in ("failure", "error")))
        for case in cases
        if case.find("skipped") is None
    ]


def unharmed(mutants: Sequence[Mutant]) -> None:
    """Run all tests on the code as it is.

    Raises:
        ValueError: one fails, or did not run.
    """
    tests = list(dict.fromkeys(mutant.test for mutant in mutants))
    for of_root in (False, True):
        chosen = [test for test in tests if test.startswith("tests/proof") == of_root]
        if chosen:
            with copied(chosen[0]) as folder:
                reports = outcomes(chosen, folder)
            failures = [line for report in reports for line in report.failures]
            if failures or len(reports) < len(chosen):
                raise ValueError(f"tests fail or are skipped on the code as it is: {failures}")


@contextmanager
def copied(test: str) -> Iterator[Path]:
    """Copy what a test needs into a folder of its own."""
    with TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "template", folder / "template", ignore=_LEFT_OUT)
        for path in _OF_ROOT if test.startswith("tests/proof") else ():
            source, target = ROOT / path, folder / path
            target.parent.mkdir(exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
        yield folder


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return 1 if a mutant lives."""
    parser = argparse.ArgumentParser(prog="python -m proof.mutation", description=__doc__)
    parser.add_argument("--row", type=int, action="append", help="only this weakness")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", action="store_true", help="write the page, and run nothing")
    options = parser.parse_args(arguments)
    weaknesses = Weaknesses.read()
    if options.page:
        PAGE.write_text(weaknesses.page(), encoding="utf-8")
        return 0
    mutants = [each for each in weaknesses.mutants if not options.row or each.row in options.row]
    try:
        unharmed(mutants)
    except ValueError as error:
        _say(str(error))
        return 1
    alive = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for mutant, line in zip(mutants, pool.map(_tried, mutants), strict=True):
            _say(f"{mutant.row:>3}  {mutant.fault}\n     {line}")
            alive += line.startswith(_ALIVE)
    _say(f"{len(mutants) - alive} of {len(mutants)} caught")
    return 1 if alive or not mutants else 0


def _tried(mutant: Mutant) -> str:
    try:
        return f"{mutant.test}: {caught(mutant).splitlines()[0][:120]}"
    except ValueError as error:
        return f"{_ALIVE}{error}"


def _linked(mutant: Mutant) -> str:
    """Return a test as a link to its file, and its name without what it is run with."""
    path, *names = mutant.test.split("[")[0].split("::")
    place = path if path.startswith("tests/proof") else f"template/{path}"
    return f"[`{path}`](../../{place}) `{'::'.join(names)}`"


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 that is what the command is for


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
