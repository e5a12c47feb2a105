"""`python -m dev.serve`: start the server as the platform does, with defaults for one machine."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

LOCAL_DEFAULTS: Mapping[str, str] = {
    "RUN_STORE_URL": "sqlite:///.local/runs.db",
    "AUTH": "off",
    "PORT": "8080",
}
"""What the environment gets where it says nothing."""


def local_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with the local defaults, and this interpreter's programs on the path."""
    programs = str(Path(sys.executable).parent)
    path = os.pathsep.join(filter(None, [programs, environ.get("PATH", "")]))
    return {**LOCAL_DEFAULTS, **environ, "PATH": path}


def web_command(procfile: str) -> str:
    """Return the command of the `web` line in the text of a Procfile.

    Raises:
        ValueError: there is no such line.
    """
    for line in procfile.splitlines():
        process, separator, command = line.partition(":")
        if separator and process.strip() == "web":
            return command.strip()
    raise ValueError("Procfile has no line that starts with `web:`")


def checked_port(value: str) -> int:
    """Return a port that a server can listen on.

    Raises:
        ValueError: `value` is none; the message says what is.
    """
    if value.isascii() and value.isdecimal() and 1 <= int(value) <= 65535:
        return int(value)
    raise ValueError(f"PORT is {value!r}; it must be a number from 1 to 65535")


def main() -> None:
    """Become the server: this process is replaced by it."""
    environ = local_environment(os.environ)
    try:
        port = checked_port(environ["PORT"])
    except ValueError as error:
        sys.exit(f"{error}.")
    if sys.stdout.isatty():
        print(f"Serving on http://localhost:{port}/ with {environ['RUN_STORE_URL']}.", flush=True)
    command = web_command(Path("Procfile").read_text(encoding="utf-8"))
    os.execvpe("sh", ["sh", "-c", f"exec {command}"], environ)


if __name__ == "__main__":
    main()
