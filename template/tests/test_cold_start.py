"""What a cold start imports: the project's own dependencies, and its store only when it is used."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from app.dedup.stores import supported_schemes
from dev.kinds import surroundings
from tests.support.stores import MODULES

ROOT = Path(__file__).parent.parent
# What the interpreter itself had imported does not count.
PROBE = """
import json, sys
before = set(sys.modules)
import main
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def imported(store: str) -> set[str]:
    """Return the modules that are there when `main` is imported with a store of that kind."""
    url = "sqlite:///.local/cold.db"
    if store != "sqlite":
        # The store of one scheme can be that of another, over TLS.
        module = store if store in MODULES else store.removesuffix("s")
        form, _ = import_module(f"tests.support.stores.{module}").PLACE
        url = store + form.removeprefix(module).format(name="cold", host="127.0.0.1:1")
    with surroundings() as around:
        environ = {**os.environ, **around.environ, "AUTH": "off", "RUN_STORE_URL": url}
    environ["PYTHONPATH"] = str(ROOT)
    for platform in ("K_SERVICE", "GAE_ENV"):
        environ.pop(platform, None)
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def parsed(requirement: str) -> tuple[str, frozenset[str]]:
    """Return the name and the extras of a requirement."""
    match = re.match(r"([\w.-]+)\s*(?:\[([^\]]*)\])?", requirement)
    assert match is not None
    extras = (match[2] or "").split(",")
    return normal(match[1]), frozenset(extra.strip() for extra in extras if extra)


def closure(wanted: set[tuple[str, frozenset[str]]]) -> set[str]:
    """Return the installed distributions that `wanted` need, themselves included."""
    found: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        found |= wanted
        needed = set()
        for name, extras in wanted:
            for each in requires(name) or []:
                extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", each)
                if extra is None or extra[1] in extras:
                    needed.add(parsed(each))
        wanted = {each for each in needed - found if each[0] in INSTALLED}
    return {name for name, _ in found}


INSTALLED = {normal(name) for names in packages_distributions().values() for name in names}


@pytest.fixture(scope="module")
def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = set(project["project"]["dependencies"])
    if (ROOT / "pyproject.toml.jinja").exists():
        # In place there are the libraries of every variant, which the template's tests need.
        superset = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
        tools = {parsed(each)[0] for each in project["dependency-groups"]["dev"]}
        every = superset["dependency-groups"]["dev"]
        needed |= {each for each in every if parsed(each)[0] in INSTALLED - tools}
    return closure({parsed(each) for each in needed})


@pytest.mark.parametrize("store", supported_schemes())
def test_imports_nothing_but_what_the_project_depends_on(store: str, declared: set[str]) -> None:
    """No development tool, and nothing of a framework or store that was not chosen."""
    owners = packages_distributions()
    tops = {module.partition(".")[0] for module in imported(store)}
    foreign = {
        top
        for top in tops & owners.keys()
        if not any(normal(name) in declared for name in owners[top])
    }
    assert not foreign


def test_imports_nothing_that_only_commands_need() -> None:
    """The records command, and the library that reads its schedules."""
    modules = imported("sqlite")
    assert not {name for name in modules if name.startswith(("app.records", "app.schedule"))}
    assert "cronsim" not in modules


def test_imports_no_event_loop_of_its_own() -> None:
    """Only a job that is a coroutine needs one, and clients and servers that have one anyway."""
    code = "import sys; import app.service; sys.exit('asyncio' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_imports_one_adapter_and_one_store() -> None:
    """The others are not even looked at."""
    for store in supported_schemes():
        modules = imported(store)
        stores = {name.partition("app.dedup.stores.")[2] for name in modules}
        # The store of one scheme can be that of another, over TLS.
        own = {store, store.removesuffix("s")}
        assert store in stores & {*supported_schemes()} <= own
        adapters = {name for name in modules if re.fullmatch(r"app\.http\.\w+", name)}
        assert len(adapters - {"app.http.wsgi"}) == 1
