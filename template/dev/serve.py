"""`python -m dev.serve`: start the server as the platform does, with defaults for one machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app import defaults
from dev.kinds import setting, surroundings

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


def main(kind: str = defaults.KIND) -> None:
    """Become the server, or stay to stand in for what is around it and is not set."""
    environ = local_environment(os.environ)
    try:
        port = checked_port(environ["PORT"])
    except ValueError as error:
        sys.exit(f"{error}.")
    missing = setting(kind)
    stands_in = bool(missing) and not environ.get(missing)
    if sys.stdout.isatty():
        print(f"Serving on http://localhost:{port}/ with {environ['RUN_STORE_URL']}.", flush=True)
        if stands_in:
            print(f"{missing} is not set: a stand-in of it is started once per run.", flush=True)
    web = web_command(Path("Procfile").read_text(encoding="utf-8"))
    command = ["sh", "-c", f"exec {web}"]
    if not stands_in:
        os.execvpe("sh", command, environ)
    with surroundings(kind) as around:
        sys.exit(_serve(command, {**environ, **around.environ}))


def _serve(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the server as a child until it ends; return its exit status as a shell does."""
    with subprocess.Popen(command, env=environ) as server:
        # A terminal sends Ctrl-C to both, and a server that gets it twice would not end in order.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, frame: server.send_signal(number))
        status = server.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    main()
