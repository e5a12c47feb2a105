"""The real gcloud, loaded once and forked for each call, because loading it takes the longest.

gcloud's own Python runs this file, and a command `gcloud` that asks it stands first on the PATH of
what is tested: it hands over its arguments, environment, folder and standard files.
"""

import ast
import importlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

_LONGEST_WAIT = 0.02
"""Seconds between two looks at an operation, which here is done at once."""

_KEPT = ("googlecloudsdk.", "google.", "cloudsdk.", "apitools.", "proto.")
"""What a call has loaded is loaded for the later ones too; a command's own module each loads."""


def serve(path: str, root: Path) -> NoReturn:
    """Serve calls at the socket `path` until the process is ended; `root` is gcloud's folder."""
    sys.path[:0] = [str(root / "lib"), str(root / "lib" / "third_party")]
    from googlecloudsdk import gcloud_main  # type: ignore[import-not-found]

    # Every call would make its own tree of commands.
    commands = gcloud_main.CreateCLI([])
    # Nobody waits for the calls here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    learned = Path(f"{path}.learned")
    learned.mkdir()
    while True:
        connection, _ = listener.accept()
        data, files, _, _ = socket.recv_fds(connection, 1, 3)
        _load(learned)
        if data and os.fork() == 0:
            listener.close()
            _call(partial(gcloud_main.main, commands), connection, files, learned)
        for file in files:
            os.close(file)
        connection.close()


def _load(learned: Path) -> None:
    """Load what earlier calls have loaded for their commands."""
    for file in learned.glob("*.json"):
        for name in json.loads(file.read_text()):
            importlib.import_module(name)
        file.unlink()


def _call(
    main: Callable[[], object], connection: socket.socket, files: list[int], learned: Path
) -> NoReturn:
    """Be one call of gcloud, and report its exit status."""
    known = set(sys.modules)
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(float(seconds), _LONGEST_WAIT))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile() as reader:
        environ, folder, arguments = ast.literal_eval(reader.readline())
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    sys.argv = ["gcloud", *arguments]
    status: object = 1
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(b"%d\n" % (status if isinstance(status, int) else bool(status)))
        new = [name for name in set(sys.modules) - known if name.startswith(_KEPT)]
        if new:
            names = learned / str(os.getpid())
            names.write_text(json.dumps(new))
            names.rename(names.with_suffix(".json"))
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]))
