"""How long `import main` takes in a project, per framework and store, and what takes the time.

`make bench` runs it. Every figure is the median of several processes on this machine; read them as
ratios to the framework alone, which is imported in the same run.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import copier
from rich.console import Console
from rich.table import Table

from tests.ports import free_port

ROOT: Final = Path(__file__).parent.parent
ROUNDS: Final = 5
FRAMEWORKS: Final = {
    "functions-framework": "import functions_framework, gunicorn.app.base",
    "flask": "import flask",
    "fastapi": "import fastapi",
}
STORES: Final = {
    "sqlite": ("firestore", "sqlite:///runs.db", ""),
    "firestore": (
        "firestore",
        "firestore://my-project/(default)",
        "; from google.cloud.firestore_v1.client import Client",
    ),
    "spanner": (
        "spanner",
        "spanner://my-project/runs/runs",
        "; from google.cloud.spanner_v1 import SpannerClient",
    ),
    "redis": ("memorystore", "redis://127.0.0.1:{port}", "; import redis.cluster"),
}
"""Store -> the answer that brings it, its URL, and the import of its client alone."""
_LINE: Final = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| ( *)(\S+)")


def main() -> None:
    """Print the table, then the slowest imports of each variant."""
    console = Console()
    table = Table("framework", "store", "bare", "import main", "ratio", title="Cold start")
    slowest = Table("framework", "store", "slowest imports of main, in ms with what they import")
    with tempfile.TemporaryDirectory() as folder, _redis() as port:
        if port is None:
            console.print("Without redis-server on the PATH there is no row for Redis.")
        for framework, bare in FRAMEWORKS.items():
            for store, (answer, url, client) in STORES.items():
                if store == "redis" and port is None:
                    continue
                project = Path(folder) / f"{framework}-{store}"
                data = {"framework": framework, "store": answer}
                copier.run_copy(
                    str(ROOT), project, data=data, defaults=True, quiet=True, vcs_ref="HEAD"
                )
                environ = {**os.environ, "AUTH": "off", "RUN_STORE_URL": url.format(port=port)}
                alone = _median(bare + client, project, environ)
                whole = _median("import main", project, environ)
                ratio = f"{whole / alone:.2f}"
                table.add_row(framework, store, f"{alone:.0f} ms", f"{whole:.0f} ms", ratio)
                slowest.add_row(framework, store, _slowest(project, environ))
    console.print(table, slowest)


@contextmanager
def _redis() -> Iterator[int | None]:
    """Start a server, which a start of the service asks about eviction; yield its port."""
    program = shutil.which("redis-server")
    if program is None:
        yield None
        return
    port = free_port()
    command = [program, "--port", str(port), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield port
    finally:
        server.kill()
        server.wait()


def _median(code: str, project: Path, environ: dict[str, str]) -> float:
    probe = f"import time; began = time.perf_counter(); {code}; print(time.perf_counter() - began)"
    times = [
        float(_python(["-c", probe], project, environ).stdout.split()[-1])
        for _ in range(ROUNDS + 1)
    ]
    # The first one writes the byte code.
    return 1000 * statistics.median(times[1:])


def _slowest(project: Path, environ: dict[str, str]) -> str:
    output = _python(["-X", "importtime", "-c", "import main"], project, environ).stderr
    lines = [match for match in map(_LINE.match, output.splitlines()) if match]
    # What `main` imports stands three levels of two spaces below the line of main itself.
    top = [(int(line[2]), line[4]) for line in lines if len(line[3]) <= 6 and line[4] != "main"]
    return ", ".join(f"{name} {micros / 1000:.0f}" for micros, name in sorted(top)[:-7:-1])


def _python(
    arguments: list[str], project: Path, environ: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )


if __name__ == "__main__":
    main()
