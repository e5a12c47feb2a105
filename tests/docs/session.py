"""Running commands one after the other, in one shell, as a reader does."""

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_SECONDS = 300

_PRELUDE = """\
set -o pipefail
server=
# A server stays while the commands after it are run, and another one takes its place.
serve() {
  stop_server
  "$@" >>"$HOME/server.log" 2>&1 &
  server=$!
  until curl --silent --output /dev/null "localhost:$PORT/health"; do
    kill -0 "$server" || { cat "$HOME/server.log"; return 1; }
    sleep 0.05
  done
}
stop_server() {
  [[ -z $server ]] || { kill "$server"; wait "$server"; server=; } 2>/dev/null
}
first_run() {
  .venv/bin/python -m dev.runs list --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["records"][0]["run_id"])'
}
begin() { printf '\\x1e%s\\x1f' "$1"; }
end() { printf '\\x1f%s\\x1e' "$1"; }
"""


@dataclass(frozen=True)
class Step:
    """What is typed into the shell, and with which exit status it may end."""

    text: str
    statuses: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Result:
    """How a step ended, and what it printed, errors included. None: it was not reached."""

    status: int | None
    output: str


def run(steps: Sequence[Step], folder: Path, environment: dict[str, str]) -> list[Result]:
    """Run steps in a folder up to the first that ends otherwise than it may."""
    lines = [_PRELUDE]
    for number, step in enumerate(steps):
        allowed = "|".join(map(str, step.statuses))
        lines += [
            f"begin {number}",
            step.text,
            'status=$?; end "$status"',
            f'case $status in {allowed}) ;; *) stop_server; exit "$status" ;; esac',
        ]
    lines.append("stop_server")
    # A file, and no pipe: a server that stays would keep it open.
    printed = Path(environment["HOME"], "printed")
    with printed.open("wb") as file:
        shell = subprocess.Popen(
            ["bash", "-c", "\n".join(lines)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with suppress(subprocess.TimeoutExpired):
        shell.wait(TIMEOUT_SECONDS)
    # What the commands have started ends with them.
    with suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGKILL)
    shell.wait()
    said = printed.read_text()
    printed.unlink()
    found = {
        int(number): Result(int(status), output)
        for number, output, status in re.findall(
            r"\x1e(\d+)\x1f([^\x1e\x1f]*)\x1f(\d+)\x1e", said
        )
    }
    return [found.get(number, Result(None, said[-2000:])) for number in range(len(steps))]
