"""Servers to measure: rendered projects, and the same frameworks with an idle handler."""

import http.client
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from benchmarks.parts import Parts, end
from tests.ports import free_port
from tests.rendering import clean_environment, render, snapshot

_START_LIMIT: Final = 120.0
_STORES: Final = {"redis": "memorystore", "spanner": "spanner"}
"""The answers that bring other stores than Firestore; SQLite comes with each of them."""

_FLASK: Final = """
import flask

app = flask.Flask(__name__)


@app.route("/", defaults={"path": ""}, methods=["GET", "POST"])
@app.route("/<path:path>")
def handle(path):
    return {"outcome": "processed"}
"""
_FUNCTIONS: Final = """
import functions_framework


@functions_framework.http
def handle_scheduled_job(request):
    return {"outcome": "processed"}
"""
_FASTAPI: Final = """
from fastapi import FastAPI

app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)


@app.api_route("/{path:path}", methods=["GET", "POST"])
def handle(path: str):
    return {"outcome": "processed"}
"""
_GUNICORN: Final = """
import os

bind = f"0.0.0.0:{os.environ['PORT']}"
workers = 1
worker_class = "gthread"
threads = 80
timeout = 0
control_socket_disable = True
"""
BARE: Final = {"functions-framework": _FUNCTIONS, "flask": _FLASK, "fastapi": _FASTAPI}
"""Framework -> a main.py whose handler does nothing."""

CLIENTS: Final = {
    "sqlite": "import sqlite3",
    "firestore": "from google.cloud.firestore_v1.client import Client",
    "spanner": "from google.cloud.spanner_v1 import SpannerClient",
    "redis": "import redis.cluster",
}
"""Store -> the import of its client."""


@dataclass(frozen=True)
class Memory:
    """What the processes of a server take, in MiB. PSS is None where the system does not tell."""

    rss: float
    pss: float | None


class Projects:
    """Folders from which servers start, each made once."""

    def __init__(self, parts: Parts) -> None:
        self._folder = parts.folder / "projects"
        self._template = parts.folder / "template"

    def rendered(self, framework: str, store: str) -> Path:
        """Return a project made from the template, which has SQLite besides the store."""
        project = self._folder / f"{framework}-{store}"
        if not project.exists():
            if not self._template.exists():
                snapshot(self._template)
            answers = {"framework": framework, "store": _STORES.get(store, "firestore")}
            render(self._template, project, answers)
        return project

    def bare(self, framework: str, client: str = "") -> Path:
        """Return a folder with a handler that does nothing, started by the project's command.

        `client` is an import statement that its main.py begins with.
        """
        name = re.sub(r"\W+", "-", f"bare-{framework}-{client}")
        folder = self._folder / name
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / "main.py").write_text(f"{client}\n{BARE[framework]}")
            (folder / "gunicorn.conf.py").write_text(_GUNICORN)
            shutil.copy(self.rendered(framework, "sqlite") / "Procfile", folder)
        return folder


class Server(AbstractContextManager["Server"]):
    """A server by the command of its Procfile, as the platform starts it. Its output is dropped."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.port = free_port()
        web = re.search(r"^web: (.+)$", (folder / "Procfile").read_text(), re.MULTILINE)
        if web is None:
            raise ValueError(f"{folder.name} has a Procfile without a web command")
        programs = str(Path(sys.executable).parent)
        environ = {
            **clean_environment(),
            "THREADS": "80",
            "WORKERS": "1",
            "AUTH": "off",
            "LOG_LEVEL": "INFO",
            "PYTHONUNBUFFERED": "1",
            **settings,
            "PORT": str(self.port),
            "PATH": os.pathsep.join([programs, os.environ.get("PATH", "")]),
        }
        environ.pop("PYTHONPATH", None)
        self._log = folder / "server.log"
        began = time.perf_counter()
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {web[1]}"],
                cwd=folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait()
        except BaseException:
            end(self._process)
            raise
        self.start_seconds = time.perf_counter() - began

    def memory(self) -> Memory:
        """Return what all its processes take."""
        root = psutil.Process(self._process.pid)
        found = [each.memory_full_info() for each in [root, *root.children(recursive=True)]]
        shares = [getattr(each, "pss", None) for each in found]
        known = [share for share in shares if share is not None]
        mib = 2**20
        return Memory(
            rss=sum(each.rss for each in found) / mib,
            pss=sum(known) / mib if len(known) == len(found) else None,
        )

    def __exit__(self, *_: object) -> None:
        end(self._process)

    def _wait(self) -> None:
        limit = time.monotonic() + _START_LIMIT
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"a server did not start:\n{self._log.read_text()}")
            time.sleep(0.005)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_START_LIMIT)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def store_url(parts: Parts, store: str) -> str:
    """Return the `RUN_STORE_URL` of a store on this machine; nobody listens at most of them."""
    match store:
        case "sqlite":
            return f"sqlite://{os.sep}{parts.folder / 'served.db'}"
        case "redis":
            return f"redis://127.0.0.1:{parts.redis}?prefix=served:"
        case "firestore":
            return "firestore://benchmark/(default)"
        case _:
            return "spanner://benchmark/benchmark/benchmark"
