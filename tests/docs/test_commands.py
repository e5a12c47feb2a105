"""Every command in the documentation works, and prints what is shown."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.recorder import recording
from tests.docs import mentions, output, session
from tests.docs.actions import File, actions_of
from tests.docs.cloud import Cloud
from tests.docs.commands import Command
from tests.docs.markdown import Document, of_the_repository
from tests.docs.rules import NAMES, PLACES, Elsewhere, Never, Place, Run, rule_for
from tests.docs.sandbox import FAKE_GCLOUD, Kitchen, environment, tools
from tests.rendering import ROOT

DOCUMENTS = {document.name: document for document in of_the_repository()}


def place_of(document: str) -> Place:
    """Where the commands of a document are run."""
    return next(place for pattern, place in PLACES if re.fullmatch(pattern, document))


def step_of(document: Document, action: Command | File) -> session.Step | None:
    """What is typed for an action; None where another test does it, or none can."""
    if isinstance(action, File):
        return session.Step(f"cat >{action.path} <<'END OF FILE'\n{action.text}\nEND OF FILE")
    rule = rule_for(document.name, action.text)
    if not isinstance(rule, Run):
        return None
    pattern = rule.pattern
    text = re.sub(pattern, rule.words, action.text, flags=re.DOTALL) if rule.words else action.text
    for name, meant in NAMES.items():
        text = re.sub(name, lambda _, meant=meant: meant, text)
    return session.Step(text, rule.statuses)


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """A Google Cloud that answers whatever it is asked."""
    with recording(Cloud()) as started:
        assert isinstance(started, Cloud)
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a reader's home and programs."""
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "gcloud").symlink_to(FAKE_GCLOUD / "gcloud.sh")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_work_in_their_order(
    name: str, kitchen: Kitchen, cloud: Cloud, gcloud: Path, folder: Path
) -> None:
    document = DOCUMENTS[name]
    done = [
        (action, step)
        for action in actions_of(document)
        if not (isinstance(action, Command) and mentions.is_mention(action))
        if (step := step_of(document, action)) is not None
    ]
    if not any(isinstance(action, Command) for action, _ in done):
        pytest.skip("it has no command that is run here")
    place = place_of(name)
    start = kitchen.repository() if place.repository else kitchen.project(place.answers)
    environ = environment(folder / "home", [gcloud, tools(folder / "tools")])
    environ |= cloud.environment()
    environ |= {"CLOUDSDK_CONFIG": str(folder / "gcloud"), "FAKE": str(folder / "fake")}
    results = session.run([step for _, step in done], start, environ)
    for (action, step), result in zip(done, results, strict=True):
        assert result.status in step.statuses, f"{action.place}: {step.text}\n{result.output}"
        if isinstance(action, Command) and action.shown is not None:
            wrong = output.difference(action.shown, result.output)
            assert wrong is None, f"{action.place}: {action.text}\n{wrong}"
