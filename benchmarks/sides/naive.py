"""What one writes first on Spanner: a read-write transaction that reads a row and writes it."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.cloud.spanner_v1 import SpannerClient
from google.cloud.spanner_v1.database import Database
from google.cloud.spanner_v1.keyset import KeySet

from benchmarks.sides import LEASE, RETENTION

_READ: Final = ("status", "attempt_id", "lease_expires")
_WRITTEN: Final = ("run_id", *_READ, "expire_at")


@dataclass(frozen=True)
class _Claim:
    key: str
    attempt_id: str


class Naive:
    """One transaction to claim, one to finish. `api` is the client below the database's."""

    def __init__(self, database: Database, table: str, api: SpannerClient) -> None:
        self._database = database
        self._table = table
        self._api = api
        database._spanner_api = api

    def claim(self, name: str) -> _Claim | None:
        """Claim a run unless its row says that it is done, or being done."""
        claim = _Claim(name, secrets.token_hex(16))
        now = datetime.now(UTC)

        def claim_run(transaction: Any) -> bool:
            for status, _, lease_expires in self._rows(transaction, claim.key):
                if status == "completed" or lease_expires > now:
                    return False
            expires = now + timedelta(seconds=LEASE)
            kept = now + timedelta(seconds=RETENTION)
            row = (claim.key, "in_progress", claim.attempt_id, expires, kept)
            transaction.insert_or_update(self._table, _WRITTEN, [row])
            return True

        return claim if self._transact(claim_run) else None

    def finish(self, claim: _Claim) -> None:
        """Record that the run is done, if the row is still the claim's."""

        def finish_run(transaction: Any) -> None:
            if self._is_mine(transaction, claim):
                transaction.update(self._table, ("run_id", "status"), [(claim.key, "completed")])

        self._transact(finish_run)

    def release(self, claim: _Claim) -> None:
        """Delete the row, if it is still the claim's."""

        def release_run(transaction: Any) -> None:
            if self._is_mine(transaction, claim):
                transaction.delete(self._table, _key(claim.key))

        self._transact(release_run)

    def close(self) -> None:
        """Close the channel. The database's own `close` waits for a thread that sleeps minutes."""
        self._api.transport.close()  # type: ignore[no-untyped-call]

    def _transact(self, body: Callable[[Any], object]) -> object:
        answer: object = self._database.run_in_transaction(body)  # type: ignore[no-untyped-call]
        return answer

    def _rows(self, transaction: Any, key: str) -> list[Any]:
        return list(transaction.read(self._table, _READ, _key(key)))

    def _is_mine(self, transaction: Any, claim: _Claim) -> bool:
        return any(row[1] == claim.attempt_id for row in self._rows(transaction, claim.key))


def _key(key: str) -> KeySet:
    return KeySet(keys=[[key]])  # type: ignore[no-untyped-call]
