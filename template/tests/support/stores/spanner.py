"""Spanner under test: the emulator, with a gRPC interceptor that counts and loses calls."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc
import pytest
from google.cloud.spanner_v1 import (
    COMMIT_TIMESTAMP,
    KeyRangePB,
    KeySetPB,
    Mutation,
    SpannerClient,
)
from google.cloud.spanner_v1.services.spanner.transports.grpc import SpannerGrpcTransport

from app.dedup.clock import SYSTEM_CLOCK
from app.dedup.store import Store
from app.dedup.stores.spanner import SpannerStore
from app.dedup.stores.spanner_session import SpannerSession, connect, wire_value
from dev.server import free_port
from tests.support.emulator import Emulator
from tests.support.faults import Faults
from tests.support.missing import missing
from tests.support.rpc import Interceptor
from tests.support.stores import Hanging, RawFields, RealTimeHarness

DATABASE = "projects/test-project/instances/test-instance/databases/test-database"
TABLE = "scheduler_runs"
PLACE = (
    "spanner://test-project/test-instance/test-database?table={name}",
    "SPANNER_EMULATOR_HOST",
)
"""URL of a set of records, and the variable for what `spanner_emulator` yields."""
VERSIONS = f"{TABLE}_version"

_CALLS = {"Commit": "write", "ExecuteSql": "read", "CreateSession": "session"}
_TYPES: dict[type, frozenset[str]] = {
    bool: frozenset({"forced"}),
    float: frozenset({"lease_seconds"}),
    datetime: frozenset(
        {"lease_expires", "expire_at", "schedule_time", "claimed_at", "finished_at"}
    ),
}


class SpannerHarness(RealTimeHarness):
    """The emulator's tables, emptied, on a clock that nobody moves.

    A process opens its session once, before its first call: `sessions` are its faults and log.
    """

    name = "spanner"
    codes = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN", "ABORTED")
    conflicts = MappingProxyType(
        {
            "create": frozenset({"ALREADY_EXISTS"}),
            "change": frozenset({"NOT_FOUND", "ALREADY_EXISTS"}),
        }
    )

    def __init__(self, behind: SpannerSession) -> None:
        super().__init__()
        self.sessions = Faults()
        self._behind = behind
        everything = KeySetPB(all_=True)
        self._commit(Mutation(delete=Mutation.Delete(table=TABLE, key_set=everything)))

    def open(self, skew: timedelta = timedelta()) -> Store:
        connected = partial(_intercepted, self.faults, self.sessions)
        return SpannerStore(connected, DATABASE, TABLE, self.clock(skew))

    def plant(self, run_id: str, fields: RawFields) -> None:
        self._commit(Mutation(insert=_row(run_id, fields)))

    def edit(self, run_id: str, fields: RawFields) -> None:
        """Do what `spanner.sql` asks of a person."""
        self._commit(
            Mutation(update=_row(run_id, {**fields, "written_at": COMMIT_TIMESTAMP})),
            Mutation(delete=Mutation.Delete(table=VERSIONS, key_set=_below(run_id))),
        )

    def erase(self, run_id: str) -> None:
        key = KeySetPB(keys=[[run_id]])
        self._commit(Mutation(delete=Mutation.Delete(table=TABLE, key_set=key)))

    def raw(self, run_id: str) -> RawFields | None:
        found = self._ask(f"SELECT * FROM {TABLE} WHERE run_id = @run_id", run_id)
        return {**found[0], "versions": self.versions(run_id)} if found else None

    def versions(self, run_id: str) -> list[str]:
        found = self._ask(f"SELECT version FROM {VERSIONS} WHERE run_id = @run_id", run_id)
        return sorted(row["version"] for row in found)

    def erase_version(self, run_id: str, version: str) -> None:
        key = KeySetPB(keys=[[run_id, version]])
        self._commit(Mutation(delete=Mutation.Delete(table=VERSIONS, key_set=key)))

    def _ask(self, sql: str, run_id: str) -> list[dict[str, Any]]:
        return self._behind.query(sql, {"run_id": run_id}, 10.0).rows

    def _commit(self, *mutations: Mutation) -> None:
        self._behind.commit(mutations, 10.0, ())


def _intercepted(faults: Faults, sessions: Faults) -> SpannerClient:
    interceptor = Interceptor(faults, _CALLS, apart={"CreateSession": sessions})
    channel = grpc.insecure_channel(os.environ["SPANNER_EMULATOR_HOST"])
    channel = grpc.intercept_channel(channel, interceptor)
    return SpannerClient(transport=SpannerGrpcTransport(channel=channel))


def _row(run_id: str, fields: RawFields) -> Mutation.Write:
    values = {"run_id": run_id, **fields}
    row = [wire_value(_fitting(name, value)) for name, value in values.items()]
    return Mutation.Write(table=TABLE, columns=[*values], values=[row])


def _fitting(name: str, value: object) -> object:
    """Return `value` if its column can hold it, else nothing, which is all that can be there."""
    wanted = next((kind for kind, names in _TYPES.items() if name in names), str)
    if wanted is datetime and isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    if wanted is float and type(value) is int:
        return float(value)
    return value if isinstance(value, wanted) else None


def _below(run_id: str) -> KeySetPB:
    return KeySetPB(ranges=[KeyRangePB(start_closed=[run_id], end_closed=[run_id])])


@pytest.fixture(scope="session")
def spanner_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    host = f"127.0.0.1:{free_port()}"
    command = [str(_program()), "--host_port", host]
    log = tmp_path_factory.mktemp("spanner") / "emulator.log"
    emulator = Emulator(host, command, log, ready="Server address")
    try:
        emulator.wait()
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("SPANNER_EMULATOR_HOST", host)
            SpannerStore(connect, DATABASE, TABLE, SYSTEM_CLOCK).init(timeout=30.0)
        yield emulator
    finally:
        emulator.stop()


def _program() -> Path:
    if shutil.which("gcloud") is None:
        missing("the Spanner emulator", "gcloud is not installed")
    ask = ["gcloud", "info", "--format=value(installation.sdk_root)"]
    root = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    program = Path(root, "bin", "cloud_spanner_emulator", "emulator_main")
    if not program.exists():
        missing("the Spanner emulator", "gcloud's component cloud-spanner-emulator is missing")
    return program


@pytest.fixture(scope="session")
def spanner_session(spanner_process: Emulator) -> Iterator[SpannerSession]:
    """A session of the tests' own, to look behind the store."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SPANNER_EMULATOR_HOST", spanner_process.host)
        session = SpannerSession(connect, DATABASE, SYSTEM_CLOCK)
        session.query("SELECT 1", {}, 10.0)
        yield session
        session.close()


@pytest.fixture(scope="session")
def spanner_emulator(spanner_process: Emulator) -> str:
    """The emulator's address, host:port."""
    return spanner_process.host


@pytest.fixture(scope="session")
def spanner_hanging(spanner_process: Emulator) -> Hanging:
    """Keeps the emulator from answering."""
    return spanner_process.hanging


@pytest.fixture
def spanner_harness(
    spanner_process: Emulator, spanner_session: SpannerSession, monkeypatch: pytest.MonkeyPatch
) -> SpannerHarness:
    monkeypatch.setenv("SPANNER_EMULATOR_HOST", spanner_process.host)
    return SpannerHarness(spanner_session)
