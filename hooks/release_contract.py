"""`python hooks/release_contract.py [FOLDER]`: whether projects of earlier releases can update.

Compares the template in FOLDER (by default this repository), as it stands, with each release tag
(vX.Y.Z) in its history: what projects have answered, added and kept has to live on. What changes
all the same needs a row in UPGRADING.md, and a way that keeps projects working.

Exit status: 0 it holds, 1 it does not, 2 it cannot be told.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from comparison import Comparison, Finding, alone
from upgrading import BadEntry, Entry, entries, release_of
from versions import CannotTell, Version

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("copier.yml", "hooks", "template")
UPGRADING = "UPGRADING.md"


def git(folder: Path, *arguments: str) -> bytes:
    """Run git in a folder, and return what it prints.

    Raises:
        CannotTell: git fails, or is not there.
    """
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    except subprocess.CalledProcessError as error:
        raise CannotTell(f"{folder}: {error.stderr.decode().strip()}") from error
    except OSError as error:
        raise CannotTell(f"{folder}: {error}") from error
    return done.stdout


def release_tags(folder: Path) -> list[str]:
    """The release tags in the history of what is checked out, the oldest first."""
    tags = git(folder, "tag", "--list", "v*", "--merged", "HEAD").decode().split()
    return sorted((tag for tag in tags if re.fullmatch(r"v\d+\.\d+\.\d+", tag)), key=release_of)


def released(folder: Path, tag: str) -> Version:
    """A version as it was released."""
    with tarfile.open(fileobj=io.BytesIO(git(folder, "archive", tag, *SOURCES))) as archive:
        files = {one.name: archive.extractfile(one) for one in archive if one.isfile()}
        return Version(tag, {path: file.read().decode() for path, file in files.items() if file})


def working_tree(folder: Path) -> Version:
    """The version that stands in the folder, committed or not."""
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SOURCES)
    paths = [path for path in listed.decode().split("\0") if path and (folder / path).exists()]
    return Version("the working tree", {path: (folder / path).read_text() for path in paths})


@dataclass(frozen=True, slots=True)
class Report:
    """What was compared, and what does not hold."""

    now: Version
    tags: list[str]
    findings: list[Finding]


def report(folder: Path) -> Report:
    """Compare the template in a folder with its releases.

    Raises:
        CannotTell: the folder is no repository with a template, or one cannot be read.
    """
    now, tags = working_tree(folder), release_tags(folder)
    try:
        listed = list(entries((folder / UPGRADING).read_text()))
    except (OSError, BadEntry) as error:
        raise CannotTell(f"{UPGRADING}: {error}") from error
    return Report(now, tags, [*alone(now), *_since(folder, now, tags, listed)])


def _since(folder: Path, now: Version, tags: list[str], listed: list[Entry]) -> Iterator[Finding]:
    """What does not hold for the projects of each release; those with equal promises are one."""
    seen = list[tuple[object, ...]]()
    for tag in tags:
        then = released(folder, tag)
        if then.promises not in seen:
            seen.append(then.promises)
            since = [entry for entry in listed if entry.version > release_of(tag)]
            yield from Comparison(then, now, since).findings()


def main(arguments: list[str] | None = None) -> int:
    """Print what was found, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, metavar="FOLDER")
    folder = parser.parse_args(arguments).folder
    try:
        made = report(folder)
    except CannotTell as error:
        print(f"The release contract cannot be checked: {error}", file=sys.stderr)
        return 2
    for finding in made.findings:
        print(f"{finding.version}: {finding.what}\n    {finding.remedy}")
    told = f"{len(made.now.questions)} questions, {len(made.now.paths)} files"
    compared = ", ".join(made.tags) or "no release, as there is no tag vX.Y.Z yet"
    if made.findings:
        breaks = "1 break" if len(made.findings) == 1 else f"{len(made.findings)} breaks"
        print(f"{breaks} of the release contract; compared with {compared}")
        return 1
    print(f"The release contract holds: {told}; compared with {compared}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
