"""A repository of the template with its releases, one that is made up, and what stands here."""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from release_contract import release_tags
from tests.ownership import owned
from tests.rendering import ROOT, commit, git, snapshot
from versions import SENTINEL

Answers = dict[str, Any]

RELEASED = release_tags(ROOT)
"""The releases that there are."""

MADE_UP = "v9998.0.0"
"""A release that differs from what stands here in each of the ways in which releases differ."""

LATEST = "v9999.0.0"
"""What stands here, committed or not."""

ONLY_EARLIER, ONLY_LATER = "app/earlier.py", "app/urls.py"
"""A file that only the made-up release has, and one that it lacks."""

CHANGED = ("app/schedule.py", "deploy/names.sh", "infra/names.tf")
"""Files of the template's that the made-up release has in another form."""

REMARK = "Only in the earlier release."


class Repository:
    """A repository with a tag for each version of the template."""

    def __init__(self, folder: Path, *whole: str) -> None:
        """Make it in a new folder, with all files of these folders of projects.

        Of the others come those that owners or answers change: the rest are alike to Copier.
        """
        self.folder = folder
        self._whole = whole
        self._examples = dict[str, dict[str, Answers]]()
        folder.mkdir()
        for tag in RELEASED:
            command = ["git", "archive", tag, "copier.yml", "hooks", "template", "examples"]
            archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
            self._release(tag)
        for tag in (MADE_UP, LATEST):
            snapshot(folder)
            shutil.copytree(ROOT / "examples", folder / "examples")
            if tag == MADE_UP:
                change_as_releases_do(folder)
            self._release(tag)

    def example(self, name: str, tag: str) -> Answers:
        """The answers of an example, as a version has it."""
        return self._examples[tag][name]

    def _release(self, tag: str) -> None:
        """Tag what stands in the folder, and clear it for the next version."""
        self._examples[tag] = {
            path.stem: yaml.safe_load(path.read_text())
            for path in self.folder.glob("examples/*.yml")
        }
        template = self.folder / "template"
        for file in template.rglob("*"):
            path = file.relative_to(template)
            if file.is_file() and path.parts[0] not in self._whole and not _is_changed(path, file):
                file.unlink()
        commit(self.folder, tag)
        git(self.folder, "tag", tag)
        git(self.folder, "rm", "-r", "--quiet", ".")


def _is_changed(path: Path, file: Path) -> bool:
    """Whether owners or answers change a file, or the made-up release does."""
    name = path.as_posix().removesuffix(".jinja")
    return (
        file.suffix == ".jinja"
        or name in owned() | {ONLY_EARLIER, ONLY_LATER, *CHANGED}
        or SENTINEL.search(file.read_text()) is not None
    )


def change_as_releases_do(folder: Path) -> None:
    """Make of what stands here an earlier release, in which much is different."""
    template = folder / "template"
    for path in _rendered(template):
        name = path.relative_to(template).as_posix().removesuffix(".jinja")
        text = path.read_text()
        if name in owned():
            text = '{"earlier": true}\n' if name.endswith(".json") else f"{text}# {REMARK}\n"
        path.write_text("".join(_with_remarks(text)))
    (template / ONLY_EARLIER).write_text(f'"""{REMARK}"""\n')
    (template / ONLY_LATER).unlink()
    for path in map(template.joinpath, CHANGED):
        path.write_text(f"# {REMARK}\n{path.read_text()}")
    questions = folder / "copier.yml"
    text = questions.read_text()
    for old, new in {
        "default: Etc/UTC": "default: Europe/Paris",
        "when: '{{ kind != \"step\" }}'\n\ndeploy:": "when: false\n\ndeploy:",
        "schedule:\n": "note:\n  type: str\n  default: nobody asks for it later\n\nschedule:\n",
    }.items():
        assert text.count(old) == 1, f"copier.yml has {text.count(old)} times {old!r}"
        text = text.replace(old, new)
    questions.write_text(text)


def _rendered(template: Path) -> list[Path]:
    """The files of the template but for default renders, which nobody gets."""
    files = [path for path in template.rglob("*") if path.is_file()]
    return [path for path in files if path.with_name(f"{path.name}.jinja") not in files]


def _with_remarks(text: str) -> Iterator[str]:
    """Put a remark above each line for the owner's additions, and one after what follows it."""
    after = 0
    for line in text.splitlines(keepends=True):
        found = SENTINEL.match(line)
        if found:
            remark = line.partition("Your ")[0] + REMARK
            remark += " -->\n" if "<!--" in line else "\n"
            yield remark
        yield line
        if found:
            after = 2
        after -= 1
        if after == 0:
            yield remark
