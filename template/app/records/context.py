"""What every command works with: the settings, the store, the clock."""

from dataclasses import dataclass
from typing import Final

from app import kinds
from app.dedup.clock import Clock
from app.dedup.delivery import Delivery, Instant, Trigger, digest
from app.dedup.record import Record
from app.dedup.store import Store
from app.records.arguments import Options
from app.records.runs import Job, Sent, is_run_id
from app.records.settings import RecordsSettings
from app.records.states import trigger_of
from app.urls import without_account

TIMEOUT: Final = 10.0
"""Seconds for each question to the store, with all its tries."""


@dataclass(frozen=True, slots=True)
class Context:
    """The settings, and the store and the clock of one run of the command."""

    settings: RecordsSettings
    store: Store
    clock: Clock

    @property
    def where(self) -> str:
        """The store, for people."""
        return without_account(self.settings.run_store_url)

    def get(self, run_id: str) -> Record | None:
        """Read a record."""
        return self.store.get(run_id, timeout=TIMEOUT)

    def find(self, options: Options) -> list[Record]:
        """Return the records of a run id, or of a schedule time: its scheduled and forced runs."""
        if is_run_id(options.run):
            run_ids = [options.run]
        else:
            delivery = self.sent(options).delivery
            run_ids = [delivery.run_id(self.settings.service, trigger) for trigger in Trigger]
        return [record for run_id in run_ids if (record := self.get(run_id))]

    def sent(self, options: Options) -> Sent:
        """Return the delivery of the run that the options name by its schedule time."""
        job = Job.of(self.settings, options.job, options.project, options.location)
        return Sent.by(job, options.run, self.settings.job_scope)

    def run_id_now(self, delivery: Delivery) -> str:
        """Return the key that a delivery would have if it came now (R06, R08)."""
        trigger = Trigger.SCHEDULED
        if self.settings.separate_forced_runs:
            trigger = delivery.trigger(self.clock.now())
        return delivery.run_id(self.settings.service, trigger)

    def is_own(self, record: Record) -> bool:
        """Tell whether the key of a record is made of its fields and this service's name (R08)."""
        if record.job_name is None:
            return False
        if record.schedule_time is None:
            scope = record.project or "", record.location or ""
            parts = (self.settings.service, *scope, record.job_name, "", kinds.trait("TRIGGER"))
            return digest("1", *parts) == record.run_id
        time = Instant.of(record.schedule_time)
        scope = record.project or "", record.location or ""
        delivery = Delivery(record.job_name, time, *scope)
        return delivery.run_id(self.settings.service, trigger_of(record)) == record.run_id
