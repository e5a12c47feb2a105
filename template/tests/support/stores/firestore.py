"""Firestore under test: the emulator, with a gRPC interceptor that counts and loses calls."""

import os
import shutil
import uuid
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

import grpc
import pytest
from google.auth.credentials import AnonymousCredentials, Credentials
from google.cloud.firestore_v1.client import Client
from google.cloud.firestore_v1.document import DocumentReference

from app.dedup.store import Store
from app.dedup.stores.firestore import FirestoreStore
from dev.server import free_port
from tests.support.emulator import Emulator
from tests.support.faults import Faults
from tests.support.missing import missing
from tests.support.rpc import Interceptor
from tests.support.stores import Hanging, RawFields, RealTimeHarness

PROJECT = "test-project"
PLACE = ("firestore://test-project/(default)?collection={name}", "FIRESTORE_EMULATOR_HOST")
"""URL of a set of records, and the variable for what `firestore_emulator` yields."""

_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What has the emulator's code compiled once and soon: no test is long enough for more."""

_CALLS = {"Commit": "write", "BatchGetDocuments": "read", "RunQuery": "list"}


class InterceptedClient(Client):
    """A client of the emulator whose calls go through an interceptor."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(project=PROJECT, credentials=_anonymous())
        self._faults = faults

    def _emulator_channel(self, transport: Any) -> grpc.Channel:
        return grpc.intercept_channel(
            super()._emulator_channel(transport),  # type: ignore[no-untyped-call]
            Interceptor(self._faults, _CALLS),
        )


class FirestoreHarness(RealTimeHarness):
    """A collection of its own in the emulator, whose clock nobody moves."""

    name = "firestore"
    codes = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN")
    conflicts = MappingProxyType(
        {
            "create": frozenset({"ALREADY_EXISTS"}),
            "change": frozenset({"FAILED_PRECONDITION", "NOT_FOUND"}),
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self.collection = f"runs-{uuid.uuid4().hex}"
        self._client = Client(project=PROJECT, credentials=_anonymous())

    def open(self, skew: timedelta = timedelta()) -> Store:
        connect = partial(InterceptedClient, self.faults)
        return FirestoreStore(connect, self.collection, self.clock(skew))

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

    def _document(self, run_id: str) -> DocumentReference:
        return self._client.collection(self.collection).document(run_id)


def _anonymous() -> Credentials:
    return AnonymousCredentials()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="session")
def firestore_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    for program in ("gcloud", "java"):
        if shutil.which(program) is None:
            missing("the Firestore emulator", f"{program} is not installed")
    host = f"127.0.0.1:{free_port()}"
    command = ["gcloud", "emulators", "firestore", "start", f"--host-port={host}"]
    log = tmp_path_factory.mktemp("firestore") / "emulator.log"
    options = f"{_JAVA} {os.environ.get('JAVA_TOOL_OPTIONS', '')}"
    emulator = Emulator(host, command, log, "is now running", JAVA_TOOL_OPTIONS=options)
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


@pytest.fixture(scope="session")
def firestore_hanging(firestore_process: Emulator) -> Hanging:
    """Keeps the emulator from answering."""
    return firestore_process.hanging


@pytest.fixture
def firestore_harness(firestore_emulator: str, monkeypatch: pytest.MonkeyPatch) -> FirestoreHarness:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    return FirestoreHarness()
