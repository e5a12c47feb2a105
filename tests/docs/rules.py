"""What is special about some commands. All others are run as they stand."""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Elsewhere:
    """A command that another test runs: a file, and the name of a function in it.

    `instead` is run here for what comes after the command.
    """

    test: str
    instead: str = ""


@dataclass(frozen=True)
class Never:
    """A command that no test can run, and why not."""

    reason: str


@dataclass(frozen=True)
class Run:
    """A command that is run in other words, or that may end with another status.

    `words` are what replaces the pattern of its rule.
    """

    words: str = r"\g<0>"
    statuses: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Rule:
    """What is special about the commands of some documents; both are patterns."""

    command: str
    how: Elsewhere | Never | Run
    documents: str = ".*"


_FRESH: Final = "tests/test_fresh_machine.py"
_HOOKS: Final = "tests/test_commit_hooks.py"
_SIMULATED: Final = "template/tests/http/test_simulator.py"
_PROXIED: Final = "template/tests/targets/test_simulator.py"
_OTHER_PAGE: Final = "tests/docs/test_commands.py::test_commands_work_in_their_order"
_VARIABLES: Final = r"((?:\w+=(?:'[^']*'|\S+) )*)"
_FAKE: Final = r'\1PATH="$FAKE:$PATH" \2'
"""With a stand-in of gcloud: the real one does it in tests/deployment."""

RULES: Final = (
    # What takes long, and is done by other tests.
    Rule("make demo", Never("it takes a minute, for what the tutorial does and a picture of it")),
    Rule(
        "make (check )?test.*",
        Never("it runs all tests, this one too"),
        "docs/how-to/(add-a-store|work-on-the-template).md",
    ),
    Rule("make check( test)?", Elsewhere(f"{_FRESH}::test_first_steps", "make install")),
    Rule("make test", Elsewhere(f"{_FRESH}::test_first_steps", "make install")),
    Rule(
        "make simulate( .*(--scenario all|before-finish).*)?",
        Elsewhere(f"{_SIMULATED}::test_each_run_is_done_once_whatever_goes_wrong"),
        "(?!docs/tutorial.md).*",
    ),
    Rule(
        "make simulate .*target-.*",
        Elsewhere(f"{_PROXIED}::test_each_run_is_started_once_whatever_is_lost"),
    ),
    Rule(
        r"\.\./\.venv/bin/python -m pytest (.*) NAME",
        Run(r"../.venv/bin/python -m pytest --quiet --collect-only \1 sqlite"),
    ),
    # What is the same in every README.
    Rule(
        'make runs ARGS=".*|make (setup|deploy).*',
        Elsewhere("tests/docs/test_commands.py::test_commands_of_a_readme_work_in_their_order"),
        "the README of (?!handler|step|spanner-terraform).*",
    ),
    Rule(
        "make (setup|deploy)",
        Elsewhere("tests/deployment/test_gcloud.py::test_what_is_deployed_is_what_the_table_says"),
        r"docs/how-to/(keep-a-project-current|change-an-answer)\.md",
    ),
    Rule(
        "gcloud scheduler jobs (pause|resume) .*",
        Elsewhere(_OTHER_PAGE),
        r"docs/how-to/change-an-answer\.md",
    ),
    Rule(
        "make bench(-docs)?( ARGS=.*)?",
        Elsewhere("tests/benchmarks/test_benchmarks.py::test_servers_take_every_run"),
    ),
    Rule(
        "make audit",
        Elsewhere("tests/test_requirements.py::test_every_library_of_the_service_is_looked_up"),
    ),
    Rule("make soak .*", Elsewhere("tests/test_soak.py::test_a_small_soak_finds_nothing_wrong")),
    Rule(
        "make simulate-proof .*",
        Elsewhere("tests/proof/test_simulation.py::test_every_promise_is_kept"),
    ),
    Rule(
        "uvx copier check-update",
        Elsewhere("tests/test_template_news.py::test_one_issue_is_opened_renewed_and_closed"),
        "the README of .*",
    ),
    Rule(
        "gcloud artifacts docker images list .*",
        Never("gcloud first asks what kind of repository Terraform has made, and none is there"),
        "docs/how-to/deploy-with-terraform.md",
    ),
    Rule(
        "uv tool install pre-commit.*",
        Elsewhere(f"{_HOOKS}::test_what_is_clean_is_committed_and_what_is_not_is_refused"),
    ),
    # What asks somebody, or stays.
    Rule("gcloud auth (application-default )?login.*", Never("it opens a browser")),
    Rule(r"uvx copier copy ADDRESS (.*)", Run(r'uvx copier copy --defaults "$PWD" \1')),
    Rule("copier copy (--data-file .*) …", Run(r'uvx copier copy --defaults \1 "$PWD" ../example')),
    Rule(r"\.venv/bin/copier copy (?!--defaults).*", Run(r"\g<0> --defaults")),
    Rule(r"gcloud (?!auth).*delete [\s\S]*", Run(r"\g<0> --quiet")),
    Rule(r"(for account in .*)(\s+done)", Run(r"\1 --quiet\2")),
    Rule(r"((?:\w+=\S+ )*)make serve", Run(r"serve env \1make serve")),
    Rule(
        r"python -m app\.guard (.*)-- .*",
        Run(
            "IDEMPOTENCY_TOKEN=a RUN_STORE_URL=sqlite:///guard.db"
            r" .venv/bin/python -m app.guard \1-- true"
        ),
    ),
    # What says by its status what it has found, or that it is not safe.
    Rule(
        r'make runs ARGS="(missed .*)"',
        Run(r".venv/bin/python -m dev.runs \1 --location us-central1", (0, 1)),
        "the README of spanner-terraform",
    ),
    Rule(r'make runs ARGS="(missed .*)"', Run(r".venv/bin/python -m dev.runs \1", (0, 1))),
    Rule(r".*\.venv/bin/python -m dev\.runs missed .*", Run(statuses=(0, 1))),
    Rule(r'make runs ARGS="(release .*)"', Run(r".venv/bin/python -m dev.runs \1", (0, 3))),
    Rule(".*copier check-update --quiet", Run(statuses=(0, 2))),
    # The real gcloud is loaded once for all commands, and reads its settings then.
    Rule("gcloud config set project (.*)", Run(r"\g<0> && export CLOUDSDK_CORE_PROJECT=\1")),
    # The shell's own command would hide the status of the other one.
    Rule(r"export (\w+)=(\$\(.*)", Run(r"\1=\2 && export \1")),
    # The stand-in of gcloud asks its environment which service is deployed.
    Rule(
        rf"{_VARIABLES}(make (?:setup|deploy).*)",
        Run(rf"SERVICE=charge-cards {_FAKE}"),
        "docs/how-to/call-a-step.md|the README of step",
    ),
    Rule(rf"{_VARIABLES}(make (?:setup|deploy).*)", Run(_FAKE)),
    # A line of deploy/config.sh, where it would stay.
    Rule(r"[A-Z_]+=\$\{[A-Z_]+:-\S*\}", Run(r"export \g<0>"), "the README of .*"),
    # What other pages do, with a service or a template that is there.
    Rule(r'curl -X POST "\$URL" .*', Elsewhere(_OTHER_PAGE)),
    Rule("uvx copier update.*", Elsewhere(_OTHER_PAGE), "(?!docs/how-to/(keep-|change-)).*"),
)
"""The first rule counts that is about a document and a command."""

NAMES: Final = {
    r"localhost:8080": "localhost:$PORT",
    r"firestore://my-project/nightly-report-runs": "sqlite:///.local/runs.db",
    r"\bADDRESS\b": "handler@my-project.iam.gserviceaccount.com",
    r"\bMY-PROJECT\b": "my-project",
    r"\bRUN_ID\b": "5a" * 32,
    r"(?<!\$\{)\bRUN\b": "${RUN:=$(first_run)}",
    r"\bTIME\b(?!_)": "1h",
    r"(?<!\$)\bURL\b(?!=)": "http://localhost:$PORT/",
    r"\bSCHEDULE_TIME\b": "2026-10-16T12:00:00Z",
}
"""What a reader puts in the place of something, in every command."""


def rule_for(document: str, command: str) -> Rule:
    """Return what is special about a command, or that nothing is."""
    for rule in RULES:
        if re.fullmatch(rule.documents, document) and re.fullmatch(
            rule.command, command, re.DOTALL
        ):
            return rule
    return Rule(r"[\s\S]*", Run())


def typed(rule: Rule, command: str) -> str:
    """Return what is typed in the place of a command that is run."""
    assert isinstance(rule.how, Run)
    command = re.sub(rule.command, rule.how.words, command, count=1, flags=re.DOTALL)
    for name, meant in NAMES.items():
        command = re.sub(name, lambda _, meant=meant: meant, command)  # type: ignore[misc]
    return command
