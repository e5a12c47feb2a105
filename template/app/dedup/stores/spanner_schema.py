"""The tables of the Spanner store, from `spanner.sql`, which the deployment uses too."""

import os
import re
import time
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Final

import grpc
from google.api_core import exceptions
from google.api_core.operation import Operation
from google.cloud.spanner_admin_database_v1 import CreateDatabaseRequest, DatabaseAdminClient
from google.cloud.spanner_admin_database_v1.services.database_admin.transports.grpc import (
    DatabaseAdminGrpcTransport,
)
from google.cloud.spanner_admin_instance_v1 import Instance, InstanceAdminClient
from google.cloud.spanner_admin_instance_v1.services.instance_admin.transports.grpc import (
    InstanceAdminGrpcTransport,
)

from app.dedup.stores.spanner_session import EMULATOR

_PAUSE: Final = 0.5


def statements(table: str) -> dict[str, str]:
    """Return the DDL statement of each table by the table's name, in the order of creation."""
    text = files("app.dedup.stores").joinpath("spanner.sql").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    parts = "\n".join(lines).replace("`scheduler_runs", f"`{table}").split(";")
    return {part.split("`")[1]: part.strip() for part in parts if part.strip()}


def create(database: str, table: str, timeout: float) -> list[str]:
    """Create what is missing of a database and its tables; return a line for each thing made.

    The emulator begins empty, so there the instance is made too. Errors are the client's.
    `timeout` is for all of it, in seconds; Spanner takes up to a minute to create a database.
    """
    end = time.monotonic() + timeout
    instance, _, name = database.partition("/databases/")
    host = os.environ.get(EMULATOR)
    made = _emulated_instance(host, instance, end) if host else []
    channel = DatabaseAdminGrpcTransport(channel=grpc.insecure_channel(host)) if host else None
    wanted = statements(table)
    with DatabaseAdminClient(transport=channel) as client:
        while (there := _ddl(client, database, end)) is None:
            request = CreateDatabaseRequest(
                parent=instance,
                create_statement=f"CREATE DATABASE `{name}`",
                extra_statements=[*wanted.values()],
            )
            try:
                _wait(client.create_database(request, retry=None, timeout=_left(end)), end)
            except exceptions.AlreadyExists:
                # Somebody else makes it at this moment.
                time.sleep(min(_PAUSE, _left(end)))
            else:
                return [*made, f"database {database}", *(f"table {each}" for each in wanted)]
        missing = {each: wanted[each] for each in wanted if not _has(there, each)}
        if missing:
            operation = client.update_database_ddl(
                database=database, statements=[*missing.values()], retry=None, timeout=_left(end)
            )
            _wait(operation, end)
        return [*made, *(f"table {each}" for each in missing)]


def _ddl(client: DatabaseAdminClient, database: str, end: float) -> Sequence[str] | None:
    """Return the statements of a database, or None where there is none."""
    try:
        found = client.get_database_ddl(database=database, retry=None, timeout=_left(end))
    except exceptions.NotFound:
        return None
    return found.statements


def _emulated_instance(host: str, instance: str, end: float) -> list[str]:
    project, _, name = instance.partition("/instances/")
    transport = InstanceAdminGrpcTransport(channel=grpc.insecure_channel(host))
    with InstanceAdminClient(transport=transport) as client:
        try:
            client.get_instance(name=instance, retry=None, timeout=_left(end))
            return []
        except exceptions.NotFound:
            wanted = Instance(
                config=f"{project}/instanceConfigs/emulator-config",
                display_name=name,
                node_count=1,
            )
        try:
            operation = client.create_instance(
                parent=project,
                instance_id=name,
                instance=wanted,
                retry=None,
                timeout=_left(end),
            )
            _wait(operation, end)
        except exceptions.AlreadyExists:
            return []
        return [f"instance {instance}"]


def _has(ddl: Iterable[str], table: str) -> bool:
    """Tell whether `ddl` makes a table of that name, which Spanner compares without case."""
    begin = re.compile(rf"\s*CREATE TABLE `?{table}`?\s*\(", re.IGNORECASE)
    return any(begin.match(statement) for statement in ddl)


def _wait(operation: Operation, end: float) -> None:
    operation.result(timeout=_left(end))  # type: ignore[no-untyped-call]


def _left(end: float) -> float:
    return max(0.0, end - time.monotonic())
