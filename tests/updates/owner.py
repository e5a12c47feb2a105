"""The owner of a project: what one adds to shared files, and writes into one's own."""

from pathlib import Path

from tests.ownership import owned, sentinels

BELOW = {
    ".dockerignore": {"patterns": "!.static\n"},
    ".editorconfig": {"sections": "[*.sql]\nindent_size = 2\n"},
    ".gcloudignore": {"patterns": "/data/\n"},
    ".github/dependabot.yml": {
        "ecosystems": (
            "  - package-ecosystem: docker\n    directory: /\n"
            "    schedule:\n      interval: weekly\n"
        ),
    },
    ".github/workflows/ci.yml": {"jobs": "  ours:\n    uses: ./.github/workflows/ours.yml\n"},
    ".gitignore": {"patterns": "/data/\n"},
    ".pre-commit-config.yaml": {
        "hooks": (
            "      - id: ours\n        name: ours\n"
            "        language: system\n        entry: make ours\n"
        ),
    },
    "Dockerfile": {
        "build steps": "RUN apt-get update && apt-get install -y libpq-dev\n",
        "system packages": "RUN apt-get update && apt-get install -y libpq5\n",
    },
    "Makefile": {"commands": "report: ## Print the report\n\t$(PYTHON) -m app.reports\n"},
    "README.md": {"notes": "\n## Our runbook\n\nAsk Ada.\n"},
    "app.yaml": {"variables": "  BUCKET: reports\n"},
    "deploy/config.sh": {
        "settings": "own_environment=(BUCKET=reports)\nMEMORY=${MEMORY:-1Gi}\n",
    },
    "infra/.gitignore": {"patterns": "*.local\n"},
    "pyproject.toml": {
        "dependencies": '    "humanize>=4,<5",\n',
        "development dependencies": '    "freezegun>=1,<2",\n',
        "exceptions": '"app/reports.py" = ["T201"]\n',
        "filters": '    "ignore::DeprecationWarning:humanize",\n',
        "tables": "[[tool.mypy.overrides]]\nmodule = ['humanize']\nignore_missing_imports = true\n",
    },
}
"""What the owner adds below each of the lines for that, by the file and what the line is for."""

WRITTEN = {
    "app/job.py": (
        '"""Our job."""\n\nfrom app import reports\nfrom app.dedup import Attempt\n\n\n'
        "def run(attempt: Attempt) -> None:\n"
        '    """Report."""\n    reports.report(attempt.run_id)\n'
    ),
    "job_body.json": '{"argument": "ours"}\n',
}
"""The owner's files as the owner has written them."""

DELETED = "tests/test_job.py"
"""The owner's file that the owner does not want."""

ADDED = {
    "app/reports.py": (
        '"""Our reports."""\n\n\ndef report(name: str) -> None:\n'
        '    """Print a report."""\n    print(name)\n'
    ),
    "docs/notes.md": "# Notes\n",
    "infra/own.auto.tfvars": 'environment = { BUCKET = "reports" }\n',
    "tests/test_reports.py": '"""Tests of our reports."""\n',
}
"""Files that the template does not know of."""


def places_in(project: Path) -> list[tuple[str, str]]:
    """The lines below which the owner can add, each with its file."""
    files = (path for path in project.rglob("*") if path.is_file())
    texts = {path.relative_to(project).as_posix(): path.read_text() for path in files}
    return sentinels({path: text for path, text in texts.items() if not path.startswith(".git/")})


def with_added(path: str, line: str, text: str) -> str:
    """A file's text with what the owner adds below a line, which is there once."""
    purpose = line.partition("Your ")[2].partition(" go below")[0]
    assert text.count(f"{line}\n") == 1, (path, line)
    return text.replace(f"{line}\n", f"{line}\n{BELOW[path][purpose]}")


def work(project: Path) -> list[tuple[str, str]]:
    """Do all that an owner does, and return where something has been added below a line."""
    places = places_in(project)
    for path, line in places:
        file = project / path
        file.write_text(with_added(path, line, file.read_text()))
    for path, text in ADDED.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)
    for path in owned():
        if (project / path).exists() and path in WRITTEN:
            (project / path).write_text(WRITTEN[path])
    (project / DELETED).unlink(missing_ok=True)
    return places
