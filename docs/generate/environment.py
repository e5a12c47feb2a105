"""The variables of the environment: what each may be, and who reads it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from unittest.mock import patch

from app.dedup.stores import open_store, supported_schemes
from app.environment import Reader
from app.guard.settings import GuardSettings
from app.kinds import proxy
from app.records.settings import RecordsSettings
from app.settings import Settings
from app.targets import target_forms
from dev import budget

from docs.generate import sources
from docs.generate.markdown import code, sentence, table

_MEANINGS: Final = {
    "AUTH": "Who checks the caller: a project has the one that it was made with, and `off`, which"
    " is refused on a platform",
    "RUN_STORE_URL": "Where the records are; `make serve` and `make runs` use"
    " `sqlite:///.local/runs.db` where it is not set",
    "AUTH_SERVICE_ACCOUNT": "E-mail address of the account whose token the job sends; several have"
    " commas between them, as a step's callers do",
    "AUTH_AUDIENCE": "Audience of that token, the service's root URL",
    "TARGET": f"What a proxy starts: {', '.join(map(code, target_forms()))}",
    "TARGET_ENDPOINT": "Scheme and host to call in place of Google's, for tests; a loopback address"
    " gets no credentials",
    "IDEMPOTENCY_TOKEN": "The token by which a command is done once; the proxy passes it on",
    "CLOUD_RUN_TASK_INDEX": "Set by Cloud Run: each task of a job has work of its own",
    "ID_TOKEN": "The token that `redo --url` delivers with, shown nowhere",
    "REQUEST_TIMEOUT_SECONDS": "When an attempt is told to stop",
    "LOG_LEVEL": "The lowest level that is logged",
    "GOOGLE_CLOUD_PROJECT": "Links log lines to their traces; with a job scope, the job's project"
    " for `make runs`",
}
"""What the code says of a variable only in other words than a table needs."""

_OTHERS: Final = {
    "PORT": "Where the server listens, 8080 by default; Cloud Run and App Engine set it",
    "K_SERVICE": "Set by Cloud Run: the service then refuses `AUTH=off` and SQLite",
    "GAE_ENV": "Set by App Engine: the same there",
    "CLOUD_RUN_JOB": "Set by Cloud Run in a job: the guard then refuses SQLite",
    "FIRESTORE_EMULATOR_HOST": "`HOST:PORT` of Firestore's emulator, in place of Firestore",
    "SPANNER_EMULATOR_HOST": "`HOST:PORT` of Spanner's emulator, in place of Spanner",
    "SECRETS": "App Engine with Memorystore: what `python -m app.secrets` fetches before the"
    " server starts, `NAME=projects/PROJECT/secrets/SECRET` with commas between them",
    "RECOVERED": "Set to `1` by the guard for a command whose earlier attempt did not end",
}
"""Variables that are read without rules of their own. A test looks for what is missing here."""


_ADDRESSES: Final = {
    "firestore://PROJECT/DATABASE?collection=scheduler_runs": "a collection of a Firestore"
    " database; `(default)` where `/DATABASE` is left out",
    "spanner://PROJECT/INSTANCE/DATABASE?table=scheduler_runs": "a table of a Spanner database;"
    " `make runs ARGS=init` creates it",
    "redis://HOST:6379/0?prefix=scheduler_runs:": "keys of a Redis or Valkey server, or of"
    " Memorystore",
    "rediss://:PASSWORD@HOST:6378?ssl_ca_certs=FILE": "the same over TLS, trusting the"
    " certificate authorities in FILE alone, in PEM; `&ssl_check_hostname=false` where they are"
    " the server's own",
    "rediss://HOST:6379?auth=iam": "the password is an access token of the Google account that the"
    " service runs as",
    "redis://HOST:6379?cluster=true": "HOST is a node of a cluster",
    "redis://HOST:6379?eviction=warn": "a server that may evict records is warned of, not refused",
    "sqlite:///PATH": "one file, on one machine; an absolute path has a fourth slash",
}
"""What RUN_STORE_URL can be; the options that have a default are shown with it."""


@dataclass
class _Variable:
    default: str
    values: str
    readers: list[str] = field(default_factory=list)


def service() -> str:
    """Return a table of all variables with their readers."""
    rows = [
        (code(name), _default(name, one), one.values, _meaning(name), ", ".join(one.readers))
        for name, one in _variables().items()
    ]
    return table(("variable", "default", "values", "meaning", "read by"), rows)


def surroundings() -> str:
    """Return a table of what platforms and emulators set."""
    return table(("variable", "meaning"), ((code(name), text) for name, text in _OTHERS.items()))


def store_addresses() -> str:
    """Return a table of the addresses that RUN_STORE_URL can be."""
    return table(("address", "means"), _addresses())


def names() -> set[str]:
    """Return the variables that the page knows."""
    return {*_variables(), *_OTHERS}


def _variables() -> dict[str, _Variable]:
    readers: dict[str, Callable[[], object]] = {
        "service": lambda: Settings.from_environ({}),
        "proxy": lambda: proxy.create(Reader({})),
        "`make runs`": lambda: RecordsSettings.from_environ({}),
        "`make check`": lambda: budget.Job.from_environ({}, datetime.now(UTC)),
        "guard": lambda: GuardSettings.from_environ({}),
    }
    found = dict[str, _Variable]()
    for reader, ask in readers.items():
        for name, one in _asked(ask).items():
            found.setdefault(name, one).readers.append(reader)
    return found


def _asked(ask: Callable[[], object]) -> dict[str, _Variable]:
    """Return what is asked for in an environment in which there is nothing."""
    found = dict[str, _Variable]()

    def text(read: Reader, name: str, default: str, check: object = None) -> str:
        found[name] = _Variable(default, "")
        return default

    def choice(
        read: Reader, name: str, default: str, choices: tuple[str, ...], hint: str = ""
    ) -> str:
        found[name] = _Variable(default, ", ".join(map(code, choices)))
        return default

    def seconds(read: Reader, name: str, default: float, least: float, most: float) -> float:
        found[name] = _Variable(f"{default:.0f}", f"{least:.0f} to {most:.0f} seconds")
        return default

    with (
        patch.multiple(Reader, text=text, choice=choice, seconds=seconds, close=lambda read: None),
        # Without a target there is no proxy.
        suppress(ValueError),
    ):
        ask()
    return found


def _default(name: str, variable: _Variable) -> str:
    if name == "REQUEST_TIMEOUT_SECONDS":
        return "the attempt deadline"
    return code(variable.default) if variable.default else "none"


def _meaning(name: str) -> str:
    if name in _MEANINGS:
        return _MEANINGS[name]
    said = sources.notes(sources.tree("app/defaults.py").body).get(name)
    if said is None:
        raise ValueError(f"no source says what {name} means; say it in docs/generate")
    return sentence(said).rstrip(".")


def _addresses() -> Iterator[tuple[str, str]]:
    schemes = {address.partition(":")[0] for address in _ADDRESSES}
    if schemes != set(supported_schemes()):
        raise ValueError(f"docs/generate has addresses of {schemes}, not of all stores")
    for address, meaning in _ADDRESSES.items():
        # Those that no store opens are not shown.
        open_store(address.lower()).close()
        yield code(address), meaning
