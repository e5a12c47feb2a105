"""The idempotency of Powertools for AWS Lambda, on its cache persistence layer."""

from typing import Any

from aws_lambda_powertools.utilities.idempotency.config import IdempotencyConfig
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyItemAlreadyExistsError
from aws_lambda_powertools.utilities.idempotency.persistence.cache import CachePersistenceLayer
from redis import Redis

from benchmarks.sides import LEASE, RETENTION, SCHEDULE_TIME

Data = dict[str, Any]


class Powertools:
    """Calls the layer as the decorator does, without what the decorator adds."""

    def __init__(self, port: int, function: str) -> None:
        self._client = Redis(port=port, decode_responses=True)
        self._layer = CachePersistenceLayer(client=self._client)  # type: ignore[arg-type]
        self._layer.configure(IdempotencyConfig(expires_after_seconds=int(RETENTION)), function)

    def claim(self, name: str) -> Data | None:
        """Save that the run is in progress, unless it is or was."""
        data = {"job_name": name, "schedule_time": SCHEDULE_TIME.isoformat()}
        try:
            self._layer.save_inprogress(data, remaining_time_in_millis=int(1000 * LEASE))
        except IdempotencyItemAlreadyExistsError:
            return None
        return data

    def finish(self, claim: Data) -> None:
        """Save the result, whoever has the record by now."""
        self._layer.save_success(claim, {})

    def release(self, claim: Data) -> None:
        """Delete the record, whoever has it by now."""
        self._layer.delete_record(claim, RuntimeError("the work has failed"))

    def close(self) -> None:
        """Close the client's connections."""
        self._client.close()
