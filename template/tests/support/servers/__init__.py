"""Real servers for tests: one module for each framework of this project, found by being here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[3]
"""The project's root folder."""


@dataclass(frozen=True, slots=True)
class Framework:
    """How a framework's server is started.

    Attributes:
        name: The adapter's module in `app.http`.
        command: The `web` command of the project's Procfile.
        entry: What the command expects in `main.py`.
        files: The project's files that the command reads from the folder in which it runs.
        environ: Variables that the server needs besides.
    """

    name: str
    command: str
    entry: str
    files: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)

    def main(self, imports: str, service: str) -> str:
        """Return the text of a `main.py` that serves the expression `service`."""
        return (
            f"from app.http.{self.name} import create_app\n"
            f"{imports}\n\n"
            f"{self.entry} = create_app({service})\n"
        )


def frameworks() -> list[Framework]:
    """Return the frameworks whose adapter is part of this project."""
    here = Path(__file__).parent
    names = sorted(path.stem for path in (PROJECT / "app" / "http").glob("[a-z]*.py"))
    found = [import_module(f"{__name__}.{n}") for n in names if (here / f"{n}.py").exists()]
    return [module.FRAMEWORK for module in found]
