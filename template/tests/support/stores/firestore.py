"""Firestore under test: the emulator, with a gRPC interceptor that counts and loses calls."""

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import grpc
import pytest
from google.auth.credentials import AnonymousCredentials, Credentials
from google.cloud.firestore_v1.client import Client
from google.cloud.firestore_v1.document import DocumentReference

from app.dedup.clock import Clock
from app.dedup.store import Store
from app.dedup.stores.firestore import FirestoreStore
from dev.server import free_port
from tests.support.faults import Faults, Kind
from tests.support.missing import missing
from tests.support.stores import Harness, RawFields

PROJECT = "test-project"

_WRITES = {"Commit": "write", "BatchGetDocuments": "read"}


class Injected(grpc.RpcError):
    """A status that never came from the store."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = grpc.StatusCode[code]

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "injected"

    def trailing_metadata(self) -> tuple[()]:
        return ()

    def result(self) -> NoReturn:
        """Fail as a call does; gRPC hands the error on as one where interceptors are stacked."""
        raise self

    def __iter__(self) -> NoReturn:
        raise self


class Interceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Applies the planned fault to each call."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def intercept_unary_unary(self, proceed: Any, details: Any, request: Any) -> Any:
        return self._intercept(proceed, details, request)

    def intercept_unary_stream(self, proceed: Any, details: Any, request: Any) -> Any:
        return self._intercept(proceed, details, request)

    def _intercept(self, proceed: Callable[..., Any], details: Any, request: Any) -> Any:
        name = details.method.rsplit("/", 1)[-1]
        fault = self._faults.next(_WRITES.get(name, name))
        if fault is Kind.LOST_REQUEST:
            raise Injected(self._faults.code)
        call = proceed(details, request)
        if fault is Kind.LOST_ANSWER:
            list(call) if name == "BatchGetDocuments" else call.result()
            raise Injected(self._faults.code)
        return call


class InterceptedClient(Client):
    """A client of the emulator whose calls go through an interceptor."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(project=PROJECT, credentials=_anonymous())
        self._faults = faults

    def _emulator_channel(self, transport: Any) -> grpc.Channel:
        return grpc.intercept_channel(
            super()._emulator_channel(transport),  # type: ignore[no-untyped-call]
            Interceptor(self._faults),
        )


class FirestoreHarness(Harness):
    """A collection of its own in the emulator, whose clock nobody moves."""

    name = "firestore"
    codes = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN")

    def __init__(self) -> None:
        super().__init__()
        self.collection = f"runs-{uuid.uuid4().hex}"
        self._client = Client(project=PROJECT, credentials=_anonymous())

    def open(self, skew: timedelta = timedelta()) -> Store:
        connect = partial(InterceptedClient, self.faults)
        return FirestoreStore(connect, self.collection, self.clock(skew))

    def clock(self, skew: timedelta = timedelta()) -> Clock:
        return Clock(lambda: datetime.now(UTC) + skew, time.monotonic, time.sleep)

    def plant(self, run_id: str, fields: RawFields) -> None:
        self._document(run_id).set(dict(fields))

    def edit(self, run_id: str, fields: RawFields) -> None:
        self._document(run_id).update(dict(fields))

    def erase(self, run_id: str) -> None:
        self._document(run_id).delete()

    def raw(self, run_id: str) -> RawFields | None:
        found = self._document(run_id).get()
        fields = found.to_dict()
        return None if fields is None else {**fields, "update_time": found.update_time}

    def pass_time(self, seconds: float) -> None:
        time.sleep(seconds)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def _document(self, run_id: str) -> DocumentReference:
        return self._client.collection(self.collection).document(run_id)


def _anonymous() -> Credentials:
    return AnonymousCredentials()  # type: ignore[no-untyped-call]


class Emulator:
    """The Firestore emulator as a process group."""

    def __init__(self, log: Path) -> None:
        self.host = f"127.0.0.1:{free_port()}"
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                ["gcloud", "emulators", "firestore", "start", f"--host-port={self.host}"],
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        end = time.monotonic() + 60
        while "is now running" not in self._log.read_text(errors="replace"):
            if self._process.poll() is not None or time.monotonic() > end:
                self.signal(signal.SIGKILL)
                pytest.fail(f"The emulator did not start:\n{self._log.read_text()}")
            time.sleep(0.1)

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def stop(self) -> None:
        self.signal(signal.SIGKILL)
        self._process.wait()


@pytest.fixture(scope="session")
def firestore_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    for program in ("gcloud", "java"):
        if shutil.which(program) is None:
            missing("the Firestore emulator", f"{program} is not installed")
    emulator = Emulator(tmp_path_factory.mktemp("firestore") / "emulator.log")
    try:
        emulator.wait()
        # The first request takes seconds, more than the product gives a call.
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("FIRESTORE_EMULATOR_HOST", emulator.host)
            FirestoreHarness().plant("warm", {"up": True})
        yield emulator
    finally:
        emulator.stop()


@pytest.fixture(scope="session")
def firestore_emulator(firestore_process: Emulator) -> str:
    """The emulator's address, host:port."""
    return firestore_process.host


@pytest.fixture
def firestore_harness(firestore_emulator: str, monkeypatch: pytest.MonkeyPatch) -> FirestoreHarness:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    return FirestoreHarness()
