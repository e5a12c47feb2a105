"""What a generated project installs: said to buildpacks, and looked up for vulnerabilities."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.rendering import clean_environment, git, render

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose requirements are made, in a repository of few files."""
    folder = tmp_path_factory.mktemp("requirements") / "project"
    render(template, folder, {"platform": "app-engine"})
    made = make(folder, "requirements.txt")
    assert made.returncode == 0, made.stdout
    git(folder, "init", "--quiet")
    git(folder, "add", "pyproject.toml")
    return folder


def make(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make, as the workflow in CI does: with the lock file as it is, if there is one."""
    locked = {"UV_LOCKED": "1"} if (project / "uv.lock").exists() else {}
    return subprocess.run(
        ["make", *arguments],
        cwd=project,
        env=clean_environment() | locked,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@contextmanager
def database(vulnerable: str, asked: set[str]) -> Iterator[str]:
    """Serve a vulnerability database that knows one package as vulnerable."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = query["package"]["name"]
            asked.add(name)
            found = {"id": "MADE-UP-1", "modified": "2026-10-16T12:00:00Z", "affected": []}
            answer = json.dumps({"vulns": [found]} if name == vulnerable else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_says_what_the_service_needs_and_nothing_else(project: Path) -> None:
    """Each version with its hashes, so that App Engine installs what was tested."""
    text = (project / "requirements.txt").read_text()
    names = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
    assert {"cronsim", "flask", "google-cloud-firestore", "gunicorn"} <= set(names)
    assert {"mypy", "pytest", "pyyaml", "ruff", "pip-audit"}.isdisjoint(names)
    assert text.count("--hash=") >= len(names)
    assert "-e ." not in text


def test_is_made_and_not_committed(project: Path) -> None:
    assert git(project, "check-ignore", "requirements.txt") == "requirements.txt\n"


class TestAudit:
    @pytest.mark.parametrize(("vulnerable", "status"), [("nothing", 0), ("cronsim", 2)])
    def test_every_library_of_the_service_is_looked_up(
        self, project: Path, vulnerable: str, status: int
    ) -> None:
        asked = set[str]()
        with database(vulnerable, asked) as url:
            options = f"--vulnerability-service osv --osv-url {url}"
            done = make(project, "audit", f"ARGS={options}")
        assert done.returncode == status, done.stdout
        assert ("MADE-UP-1" in done.stdout) == (status != 0)
        assert {"cronsim", "flask", "google-cloud-firestore"} <= asked
        assert {"pytest", "ruff"}.isdisjoint(asked)

    def test_a_secret_in_git_is_refused(self, project: Path) -> None:
        key = project / "key.txt"
        key.write_text("-----BEGIN PRIVATE KEY-----\n")
        git(project, "add", "key.txt")
        done = make(project, "audit")
        git(project, "rm", "--quiet", "--force", "key.txt")
        assert done.returncode == 2
        assert "key.txt:1" in done.stdout
