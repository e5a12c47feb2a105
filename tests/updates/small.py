"""A small template with a release, in which the tests of the release contract break a promise."""

from dataclasses import dataclass
from pathlib import Path

from release_contract import report
from tests.rendering import commit, git

FILES = {
    "copier.yml": """\
_min_copier_version: "9.18.0"
_subdirectory: template
_skip_if_exists:
  - /app/job.py
_exclude:
  - "*.py[co]"
  - |
    {% if store != "spanner" %}
    /app/spanner.py
    {% endif %}
    {% if _copier_operation == "update" %}
    /app/job.py
    {% endif %}
region:
  type: str
  default: us-central1
platform:
  type: str
  choices: [cloud-run, app-engine]
  default: cloud-run
store:
  type: str
  choices:
    Firestore: firestore
    Spanner:
      value: spanner
      validator: ""
    Memorystore: memorystore
  default: firestore
lease:
  type: int
  default: 60
""",
    "UPGRADING.md": "# Upgrading\n\n## 1.0.0\n\nThe first version.\n",
    "hooks/after_update.txt.jinja": "",
    "template/{{ _copier_conf.answers_file }}.jinja": "{{ _copier_answers | to_nice_yaml }}\n",
    "template/app/job.py": "def run() -> None: ...\n",
    "template/app/main.py.jinja": "LEASE = {{ lease }}\n",
    "template/app/serve.py": "def serve() -> None:\n    from app.job import run\n\n    run()\n",
    "template/app/spanner.py": "",
    "template/Makefile": "test:\n\tpytest\n\n# Your commands go below this line.\n",
}


@dataclass(frozen=True, slots=True)
class Small:
    """A repository with the small template, whose first release is tagged v1.0.0."""

    folder: Path

    @classmethod
    def released(cls, folder: Path) -> "Small":
        """Make it, as it was released."""
        template = cls(folder)
        for path, text in FILES.items():
            template.write(path, text)
        commit(folder, "First release")
        git(folder, "tag", "v1.0.0")
        return template

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def change(self, path: str, old: str, new: str) -> None:
        """Put a text in the place of another one, which is there once."""
        text = (self.folder / path).read_text()
        assert text.count(old) == 1, f"{path} has {text.count(old)} times {old!r}"
        self.write(path, text.replace(old, new))

    def rename(self, old: str, new: str) -> None:
        """Give a file another name."""
        (self.folder / old).rename(self.folder / new)

    def upgrading(self, version: str, *rows: str) -> None:
        """Say in UPGRADING.md what a version asks of owners."""
        table = "\n".join(("| what | before | now | by hand |", "|---|---|---|---|", *rows))
        self.change("UPGRADING.md", "## 1.0.0", f"## {version}\n\n{table}\n\n## 1.0.0")

    def findings(self) -> list[str]:
        """What breaks the contract, each with its remedy."""
        made = report(self.folder)
        return [f"{one.version}: {one.what}\n{one.remedy}" for one in made.findings]
