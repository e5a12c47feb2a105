"""Every command in the documentation works, and prints what is shown."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.recorder import recording
from tests.docs import mentions, output, session
from tests.docs.actions import File, actions_of
from tests.docs.cloud import Cloud
from tests.docs.commands import Command
from tests.docs.markdown import Document, of_the_repository
from tests.docs.places import Place, place_of
from tests.docs.readmes import EXAMPLES, readme_of
from tests.docs.rules import RULES, Elsewhere, Never, Run, rule_for, typed
from tests.docs.sandbox import FAKE_GCLOUD, Kitchen, environment, tools
from tests.rendering import ROOT

DOCUMENTS = {document.name: document for document in of_the_repository()}

WITH_COMMANDS = [
    name
    for name, document in DOCUMENTS.items()
    if any(
        isinstance(action, Command) and not mentions.seems_mention(action)
        for action in actions_of(document)
    )
]

Action = Command | File


def steps_of(document: Document) -> list[tuple[Action, session.Step]]:
    """What is done for the actions of a document, but for what another test does, or none can."""
    found = list[tuple[Action, session.Step]]()
    for action in actions_of(document):
        if isinstance(action, File):
            text = f"cat >{action.path} <<'END OF FILE'\n{action.text}\nEND OF FILE"
            found.append((action, session.Step(text)))
        elif not mentions.is_mention(action):
            rule = rule_for(document.name, action.text)
            match rule.how:
                case Run(statuses=statuses):
                    found.append((action, session.Step(typed(rule, action.text), statuses)))
                case Elsewhere(instead=instead) if instead:
                    found.append((action, session.Step(instead)))
    return found


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """A Google Cloud that answers whatever it is asked."""
    with recording(Cloud()) as started:
        assert isinstance(started, Cloud)
        yield started


@pytest.fixture
def environ(cloud: Cloud, gcloud: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a reader, whose gcloud is the real one and talks to `cloud` alone."""
    fake, programs = tmp_path / "fake", tools(tmp_path / "tools")
    fake.mkdir()
    shutil.copy(FAKE_GCLOUD / "gcloud.sh", fake / "gcloud")
    (fake / "gcloud").chmod(0o755)
    token = tmp_path / "token"
    token.write_text("made-up")
    settings = cloud.environment() | {
        "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(token),
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in settings.items()]
    script = programs / "gcloud"
    script.write_text("\n".join(["#!/bin/sh", *lines, f'exec "{gcloud}/gcloud" "$@"\n']))
    script.chmod(0o755)
    return environment(tmp_path / "home", [programs]) | {"FAKE": str(fake)}


def work(document: Document, start: Path, place: Place, environ: dict[str, str]) -> None:
    """Do what a document says, and fail at the first thing that is not as it says."""
    done = steps_of(document)
    before = session.Step(place.before)
    first, *results = session.run([before, *(step for _, step in done)], start, environ)
    assert first.status == 0, first.output
    for (action, step), result in zip(done, results, strict=True):
        assert result.status in step.statuses, f"{action.place}: {step.text}\n{result.output}"
        if isinstance(action, Command) and action.shown is not None:
            wrong = output.difference(action.shown, result.output)
            assert wrong is None, f"{action.place}: {action.text}\n{wrong}"


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_work_in_their_order(name: str, kitchen: Kitchen, environ: dict[str, str]) -> None:
    place = place_of(name)
    work(DOCUMENTS[name], kitchen.place(place), place, environ)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_commands_of_a_readme_work_in_their_order(
    example: str, kitchen: Kitchen, environ: dict[str, str]
) -> None:
    document, _ = readme_of(kitchen, example)
    place = place_of(document.name, EXAMPLES[example])
    work(document, kitchen.place(place), place, environ)


class TestMentions:
    @pytest.mark.parametrize("name", DOCUMENTS)
    def test_what_a_document_names_is_there(self, name: str) -> None:
        named = [
            action
            for action in actions_of(DOCUMENTS[name])
            if isinstance(action, Command) and mentions.is_mention(action)
        ]
        faults = {action.place: mentions.fault(action) for action in named}
        assert {place: fault for place, fault in faults.items() if fault} == {}


class TestRules:
    def test_what_another_test_runs_is_there(self) -> None:
        for rule in RULES:
            if isinstance(rule.how, Elsewhere):
                path, _, name = rule.how.test.partition("::")
                assert f"def {name}(" in (ROOT / path).read_text(), rule

    def test_what_is_never_run_has_a_reason(self) -> None:
        assert all(rule.how.reason for rule in RULES if isinstance(rule.how, Never))

    def test_every_rule_is_about_a_command(self, kitchen: Kitchen) -> None:
        documents = [*DOCUMENTS.values(), *(readme_of(kitchen, name)[0] for name in EXAMPLES)]
        used = {
            rule_for(document.name, action.text)
            for document in documents
            for action in actions_of(document)
            if isinstance(action, Command)
        }
        assert [rule for rule in RULES if rule not in used] == []
