"""`make setup` and `make deploy` of every kind of project, done by the real gcloud."""

import base64
import io
import itertools
import zipfile

import pytest

from tests import matrix
from tests.deployment.apis import (
    CERTIFICATES,
    REDIS_HOST,
    REDIS_PASSWORD,
    REDIS_PORT,
    SOURCE,
    Request,
)
from tests.deployment.conftest import Site, Sites
from tests.deployment.stores import (
    ca_file,
    run_store_secret,
)

pytestmark = pytest.mark.slow


def variants() -> list[matrix.Answers]:
    """Every platform with every store and kind; among these every target, check and scope."""
    places = dict[tuple[str, ...], list[matrix.Answers]]()
    for answers in matrix.possible():
        if answers["deploy"] == "gcloud":
            place = (answers["platform"], answers["store"], answers["kind"])
            places.setdefault(place, []).append(answers)
    every = list(itertools.chain(*places.values()))
    groups = (("platform", "store", "auth"), ("kind", "target"), ("platform", "job_scope"))
    return matrix.one_of_each(places.values(), matrix.pairs_in(every, *groups))


def run(site: Site, *scripts: str) -> str:
    """Run scripts one after the other; what they print."""
    said = ""
    for script in scripts:
        result = site.run(script)
        assert result.returncode == 0, result.stdout
        said += result.stdout
    return said


def secrets(site: Site) -> list[str]:
    """What the newest versions of the secrets hold."""
    return [
        base64.b64decode(versions[-1]["data"]).decode()
        for name, versions in site.recorder.resources.items()
        if name.endswith(":versions")
    ]


def sent(site: Site) -> set[str]:
    """The files that were sent to be built."""
    versions = [
        version for name, version in sorted(site.recorder.resources.items()) if "/versions/" in name
    ]
    if versions:
        return set(versions[-1]["deployment"]["files"])
    with zipfile.ZipFile(io.BytesIO(site.recorder.resources[SOURCE])) as source:
        return set(source.namelist())


def made(requests: list[Request]) -> list[str]:
    """The requests that make something anew, but for the service's next image or version."""
    again = (":getIamPolicy", ":setIamPolicy", ":batchEnable", "/builds:submit", "/versions")
    return [
        f"{request.host}{request.path}"
        for request in requests
        if request.method == "POST"
        and not request.path.endswith(again)
        and not request.path.startswith("/upload/")
    ]


@pytest.mark.parametrize("answers", variants(), ids=matrix.name_of)
def test_what_is_deployed_is_what_the_table_says(site: Sites, answers: matrix.Answers) -> None:
    """R05, R29, R31 to R34: also after a second run, which makes nothing anew."""
    here = site(answers)
    said = run(here, "setup", "deploy")
    assert here.deployed() == here.expected()
    assert said.count(here.expected().service.url) >= 1

    first = len(here.recorder.requests)
    said += run(here, "setup", "deploy")
    assert made(here.recorder.requests[first:]) == []
    assert here.deployed() == here.expected()

    assert REDIS_PASSWORD not in said
    if here.expected().service.secrets:
        url = run_store_secret(REDIS_HOST, REDIS_PORT, REDIS_PASSWORD, ca_file(here.answers()))
        assert secrets(here) == [url, "\n".join(CERTIFICATES)]

    assert {"main.py", "app/service.py", "pyproject.toml"} < sent(here)
    private = ("tests/", "dev/", "deploy/", ".git/")
    assert not [name for name in sent(here) if name.startswith(private)]
