"""Running commands one after the other, in one shell, as a reader does."""

import os
import re
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TIMEOUT_SECONDS: Final = 600

_PRELUDE: Final = r"""
set -o pipefail
# At its end the shell stays, so that its id belongs to nobody else before its group is ended.
trap 'printf . >&"$DONE"; kill -STOP $$' EXIT
# A server stays while the commands after it are run, and another one takes its place.
serve() {
  stop_server
  "$@" >>"$HOME/server.log" 2>&1 &
  until curl --output /dev/null "localhost:$PORT/health" 2>/dev/null; do
    [[ $(jobs -r) ]] || { cat "$HOME/server.log"; return 1; }
    sleep 0.05
  done
}
stop_server() {
  if [[ $(jobs -r) ]]; then kill %% && wait; fi 2>/dev/null
  true
}
first_run() {
  .venv/bin/python -m dev.runs list --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["records"][0]["run_id"])'
}
begin() { printf '\x1e%s\x1f' "$1"; }
end() { printf '\x1f%s\x1e' "$1"; }
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
            f"case $status in {allowed}) ;; *) exit ;; esac",
        ]
    printed = Path(environment["HOME"], "printed")
    done, told = os.pipe()
    # A file, and no pipe: a server that stays would keep it open.
    with printed.open("wb") as file:
        shell = subprocess.Popen(
            ["bash", "-c", "\n".join(lines)],
            cwd=folder,
            env=environment | {"DONE": str(told)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(told,),
        )
    os.close(told)
    select.select([done], [], [], TIMEOUT_SECONDS)
    os.close(done)
    # What the commands have started ends with them.
    os.killpg(shell.pid, signal.SIGKILL)
    shell.wait()
    said = printed.read_text()
    found = {
        int(number): Result(int(status), output)
        for number, output, status in re.findall(r"\x1e(\d+)\x1f([^\x1e\x1f]*)\x1f(\d+)\x1e", said)
    }
    return [found.get(number, Result(None, said[-2000:])) for number in range(len(steps))]
