"""What gcloud is told of the service: one module for each platform, found by being here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Call:
    """One call of gcloud: its words, its flags by name, and what came by its standard input."""

    words: str
    flags: dict[str, str]
    given: str


@dataclass(frozen=True, slots=True)
class Service:
    """The service as gcloud was told to deploy it.

    Attributes:
        account: Address of the account as which it runs.
        variables: Its environment, in plain values.
        secrets: Secrets by the variable or the file of the service that gets them.
        own: What the platform itself puts into the environment.
        network: The private network that it reaches; `""` for none.
    """

    account: str
    variables: Mapping[str, str]
    secrets: Mapping[str, str]
    own: Mapping[str, str]
    network: str


@dataclass(frozen=True, slots=True)
class Platform:
    """How services of a platform are deployed.

    Attributes:
        parts: Its names in `deploy/`, where a part of another kind may belong to it alone.
        command: The words of gcloud that deploy a service.
        files: The project's files that the scripts read, in all projects for this platform.
        read: Reads the service from the calls of gcloud.
    """

    parts: tuple[str, ...]
    command: str
    files: tuple[str, ...]
    read: Callable[[Sequence[Call]], Service]


def platforms() -> list[Platform]:
    """Return the platforms that have a module here."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    return [import_module(f"{__name__}.{name}").PLATFORM for name in names]


def secrets_in(listed: str) -> dict[str, str]:
    # pragma: allowlist nextline secret
    """Read a list of secrets: `NAME=SECRET`, with commas between them."""
    pairs = [item.split("=", 1) for item in listed.split(",") if item]
    return {name: secret.removesuffix(":latest").rpartition("/")[2] for name, secret in pairs}
