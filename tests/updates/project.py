"""A generated project that is updated, and what it has to be like in the end."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import copier
import yaml

from tests import rendering
from tests.ownership import owned
from tests.rendering import files_of, git
from tests.updates.owner import ADDED, with_added
from tests.updates.versions import Answers

State = dict[str, tuple[bytes, bool]]
"""Files by their paths: the content, and whether it can be executed."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project, in a folder of its own or of a larger repository."""

    folder: Path

    @property
    def answers(self) -> Answers:
        """What its answers file says of the questions."""
        recorded = yaml.safe_load((self.folder / ".copier-answers.yml").read_text())
        return {name: value for name, value in recorded.items() if not name.startswith("_")}

    def commit(self) -> None:
        """Commit everything, in a repository of its own."""
        rendering.commit(self.folder, "Work")

    def update(self, **answers: str) -> None:
        """Bring it to the latest version, as `copier update --defaults` does."""
        copier.run_update(
            self.folder,
            data=answers,
            defaults=True,
            overwrite=True,
            quiet=True,
            unsafe=False,
            settings=copier.Settings(),
        )

    def recopy(self) -> None:
        """Write it anew, as `copier recopy --defaults --overwrite` does."""
        copier.run_recopy(
            self.folder,
            defaults=True,
            overwrite=True,
            quiet=True,
            unsafe=False,
            settings=copier.Settings(),
        )

    def status(self) -> dict[str, str]:
        """What git says of each file that is not as it was committed."""
        listed = git(self.folder, "status", "--porcelain", "--untracked-files=all", ".")
        return {line[3:]: line[:2] for line in listed.splitlines()}


def state_of(folder: Path) -> State:
    """Read all files but git's own."""
    return {
        path: (content, bool((folder / path).stat().st_mode & 0o100))
        for path, content in files_of(folder).items()
        if not path.startswith(".git/")
    }


def differences(one: State, other: State) -> list[str]:
    """The paths of files that are not the same, or only in one of them."""
    return sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))


def expected(fresh: State, before: State, places: Iterable[tuple[str, str]]) -> State:
    """What a new project is like in which the owner has done the same.

    What is the owner's is as it was before, so it has no file that is new and the owner's.
    """
    kept = owned() | ADDED.keys()
    made = {path: file for path, file in fresh.items() if path not in kept}
    for path, line in places:
        if path in made:
            content, executable = made[path]
            made[path] = with_added(path, line, content.decode()).encode(), executable
    return made | {path: file for path, file in before.items() if path in kept}
