"""The pattern of Google's page "Deduplicate job requests", on Firestore.

A transaction claims the run, another one records its end, and another gives it up.
"""

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud.firestore_v1.client import Client
from google.cloud.firestore_v1.document import DocumentReference
from google.cloud.firestore_v1.transaction import transactional

from benchmarks.sides import LEASE, RETENTION, SCHEDULE_TIME


@dataclass(frozen=True)
class _Claim:
    document: DocumentReference
    attempt_id: str


class Documented:
    """Reads the record and writes it, inside a transaction of its own each time."""

    def __init__(self, client: Client, collection: str) -> None:
        self._client = client
        self._collection = client.collection(collection)

    def claim(self, name: str) -> _Claim | None:
        """Claim a run unless its record says that it is done, or being done."""
        key = hashlib.sha256(json.dumps([name, SCHEDULE_TIME.isoformat()]).encode()).hexdigest()
        claim = _Claim(self._collection.document(key), secrets.token_hex(16))
        now = datetime.now(UTC)

        def claim_run(transaction: Any) -> bool:
            found = claim.document.get(transaction=transaction)
            record = found.to_dict() or {}
            if record.get("status") == "completed":
                return False
            if record.get("status") == "in_progress" and record["lease_expires"] > now:
                return False
            fields = {
                "status": "in_progress",
                "attempt_id": claim.attempt_id,
                "lease_expires": now + timedelta(seconds=LEASE),
                "expire_at": now + timedelta(seconds=RETENTION),
            }
            transaction.set(claim.document, fields)
            return True

        return claim if self._transact(claim_run) else None

    def finish(self, claim: _Claim) -> None:
        """Record that the run is done, if the record is still the claim's."""

        def finish_run(transaction: Any) -> bool:
            if _is_mine(claim, transaction):
                transaction.update(claim.document, {"status": "completed"})
            return True

        self._transact(finish_run)

    def release(self, claim: _Claim) -> None:
        """Delete the record, if it is still the claim's."""

        def release_run(transaction: Any) -> bool:
            if _is_mine(claim, transaction):
                transaction.delete(claim.document)
            return True

        self._transact(release_run)

    def close(self) -> None:
        """Close the client's channel."""
        self._client.close()  # type: ignore[no-untyped-call]

    def _transact(self, body: Callable[[Any], bool]) -> bool:
        return bool(transactional(body)(self._client.transaction()))


def _is_mine(claim: _Claim, transaction: Any) -> bool:
    record = claim.document.get(transaction=transaction).to_dict() or {}
    return record.get("attempt_id") == claim.attempt_id
