"""Executions of the workflow as processes, the Firestore emulator, and the step that they call."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
import requests

from tests.ports import free_port
from tests.rendering import ROOT

WORKFLOW: Final = ROOT / "template" / "workflow.yaml"
PATIENCE: Final = 120.0
PROJECT: Final = "test-project"
RUNS: Final = f"projects/{PROJECT}/databases/(default)/documents/workflow_runs"


class Step:
    """The state-changing step. `answers` are those that it gives next, after them 200 for ever."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.answers: list[int] = []
        self.open = threading.Event()
        self.open.set()
        step = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                step.requests.append({"body": json.loads(body), **_seen(self.headers)})
                step.open.wait(10 * PATIENCE)
                status = step.answers.pop(0) if step.answers else 200
                text = json.dumps({"number": len(step.requests)}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as inherited
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,)).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def keys(self) -> list[str]:
        """The idempotency key of each request."""
        return [each["key"] for each in self.requests]

    def await_request(self, number: int = 1) -> None:
        """Wait for the request of that number."""
        end = time.monotonic() + PATIENCE
        while len(self.requests) < number:
            assert time.monotonic() < end, "the step was not called"
            time.sleep(0.02)

    def close(self) -> None:
        self.open.set()
        self._server.shutdown()
        self._server.server_close()


def _seen(headers: Any) -> dict[str, str]:
    kind, _, token = headers.get("Authorization", " ").partition(" ")
    audience = base64.urlsafe_b64decode(token).decode() if kind == "Bearer" else ""
    return {"key": headers.get("Idempotency-Key", ""), "audience": audience}


class Execution:
    """An execution at work."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def result(self) -> dict[str, Any]:
        """Wait for its end; return what it returned, or `error`."""
        out, err = self._process.communicate(timeout=PATIENCE)
        assert out, err
        answer: dict[str, Any] = json.loads(out)
        return answer

    def is_at_work(self) -> bool:
        """Tell whether it has not ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill it at once."""
        self._process.kill()
        self._process.communicate()

    def wait(self) -> int:
        """Wait for its end and return the exit status."""
        self._process.communicate(timeout=PATIENCE)
        return self._process.returncode


class Workflow:
    """The workflow with a token that no other test has."""

    def __init__(self, firestore: str, step: Step) -> None:
        self.token = uuid.uuid4().hex + uuid.uuid4().hex
        self._record = f"http://{firestore}/v1/{RUNS}/{self.token}"
        self._firestore = firestore
        self._step = step
        self._started: list[Execution] = []

    def start(self, argument: dict[str, Any] | None = None, **environ: str) -> Execution:
        """Start an execution."""
        sent = {"token": self.token, "schedule_time": "2026-10-16T12:00:00Z", "job": "nightly"}
        settings = {
            "FIRESTORE_EMULATOR_HOST": self._firestore,
            "GOOGLE_CLOUD_PROJECT_ID": PROJECT,
            "GOOGLE_CLOUD_WORKFLOW_EXECUTION_ID": str(uuid.uuid4()),
            "STEP_URL": f"{self._step.url}/charge",
            "STEP_AUDIENCE": self._step.url,
        }
        script = Path(__file__).with_name("emulated.py")
        process = subprocess.Popen(
            [sys.executable, os.fspath(script), os.fspath(WORKFLOW), json.dumps(argument or sent)],
            env={**os.environ, **settings, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(Execution(process))
        return self._started[-1]

    def run(self, argument: dict[str, Any] | None = None, **environ: str) -> dict[str, Any]:
        """Execute the workflow and return what it returned, or `error`."""
        return self.start(argument, **environ).result()

    def record(self) -> dict[str, Any]:
        """Return the fields of the token's record, empty where there is none."""
        found = requests.get(self._record, timeout=10)
        fields = found.json().get("fields", {}) if found.ok else {}
        return {name: next(iter(value.values())) for name, value in fields.items()}

    def set_lease(self, seconds: float) -> None:
        """Start a lease of that length, as if the record had been written now."""
        # A write that changes nothing would leave the record's update time as it is.
        until = datetime.now(UTC) + timedelta(seconds=seconds)
        self._write(
            lease_seconds={"doubleValue": seconds},
            lease_expires={"timestampValue": until.isoformat()},
        )

    def set_status(self, status: str) -> None:
        """Write a status as a person would."""
        self._write(status={"stringValue": status})

    def _write(self, **fields: dict[str, float | str]) -> None:
        mask = {"updateMask.fieldPaths": [*fields]}
        done = requests.patch(self._record, params=mask, json={"fields": fields}, timeout=10)
        done.raise_for_status()

    def close(self) -> None:
        for execution in self._started:
            execution.kill()


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "the Firestore emulator did not start"
        time.sleep(0.2)


@pytest.fixture(scope="session")
def firestore() -> Iterator[str]:
    """The address of a Firestore emulator."""
    for program in ("gcloud", "java"):
        if shutil.which(program) is None:
            if os.environ.get("REQUIRE_STORES") == "1":
                pytest.fail(f"the Firestore emulator is required here, but there is no {program}")
            pytest.skip(f"needs the Firestore emulator: {program} is not installed")
    host = f"127.0.0.1:{free_port()}"
    command = ["gcloud", "emulators", "firestore", "start", f"--host-port={host}"]
    # Its code is compiled once and soon: it does not live long enough for more.
    java = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    process = subprocess.Popen(
        command,
        env=os.environ | java,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def is_up() -> bool:
        try:
            return requests.get(f"http://{host}/v1/{RUNS}", timeout=10).ok
        except requests.RequestException:
            return False

    try:
        _until(is_up)
        yield host
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def step() -> Iterator[Step]:
    opened = Step()
    yield opened
    opened.close()


@pytest.fixture
def workflow(firestore: str, step: Step) -> Iterator[Workflow]:
    opened = Workflow(firestore, step)
    yield opened
    opened.close()
