"""A simulated store with conditional writes, as Firestore and Spanner have them.

What runs on it is the real `app.dedup.stores.conditional`. SQLite is the same code inside one
transaction of one machine, where no call gets lost.
"""

import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

from app.dedup.clock import Clock
from app.dedup.record import Fields, Record, Stamp
from app.dedup.store import Query, StoreError
from app.dedup.stores.conditional import ConditionalStore, Conflict, Unclear

from proof.errand import Errand, View
from proof.network import Call, Network, NoAnswer, Refusal
from proof.oracle import Oracle
from proof.world import START, Machine, World, present

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class Row:
    """One record. `micros` is when it was written, in microseconds since `START`."""

    fields: dict[str, Any]
    version: int
    micros: int

    def view(self) -> View:
        """Return what the oracle looks at."""
        fields = self.fields
        return View(fields["status"], fields["attempt_id"], self.micros, fields["lease_seconds"])

    def stamp(self) -> Stamp:
        """Return what a write or a read says about the last write."""
        at = START + timedelta(microseconds=self.micros)
        return Stamp(version=self.version, at=at, fence=self.micros)


class RecordServer:
    """The store's side. Each write is later than the one before, by its own clock.

    `idle_writes`: a write that changes nothing is none, as in Firestore: the version stays.
    """

    def __init__(self, world: World, oracle: Oracle, *, idle_writes: bool) -> None:
        self._world = world
        self._oracle = oracle
        self._idle_writes = idle_writes
        self._rows: dict[str, Row] = {}
        self._last = 0

    def now(self) -> int:
        """Return the store's time in microseconds."""
        return max(self._last, int(self._world.now * 1e6))

    def create(self, errand: Errand, run_id: str, fields: Fields) -> Stamp | Conflict:
        """Write a record where none is."""
        if run_id in self._rows:
            return Conflict()
        return self._write(errand, run_id, dict(fields))

    def replace(
        self, errand: Errand, run_id: str, fields: Fields, stamp: Stamp
    ) -> Stamp | Conflict:
        """Write fields over a record that is as it was."""
        row = self._rows.get(run_id)
        if row is None or row.version != stamp.version:
            return Conflict()
        changed = {**row.fields, **fields}
        if self._idle_writes and changed == row.fields:
            return row.stamp()
        return self._write(errand, run_id, changed)

    def remove(self, errand: Errand, run_id: str, stamp: Stamp) -> Conflict | None:
        """Delete a record that is as it was."""
        row = self._rows.get(run_id)
        if row is None or row.version != stamp.version:
            return Conflict()
        del self._rows[run_id]
        self._tick()
        self._oracle.wrote(errand, run_id, None, self._last)
        return None

    def read(self, run_ids: Sequence[str]) -> list[Record]:
        """Return the records that are there."""
        now = self.now()
        found = []
        for run_id in run_ids:
            if row := self._rows.get(run_id):
                at = START + timedelta(microseconds=now)
                found.append(Record.parse(run_id, row.fields, row.stamp(), at))
        return found

    def _write(self, errand: Errand, run_id: str, fields: dict[str, Any]) -> Stamp:
        self._tick()
        row = Row(fields, self._last, self._last)
        self._rows[run_id] = row
        self._oracle.wrote(errand, run_id, row.view(), self._last)
        return row.stamp()

    def _tick(self) -> None:
        self._last = max(self._last + 1, int(self._world.now * 1e6))


class RecordStore(ConditionalStore):
    """One instance's side: the four primitives, each a call over the network."""

    def __init__(
        self,
        clock: Clock,
        machine: Machine,
        network: Network,
        server: RecordServer,
        oracle: Oracle,
    ) -> None:
        super().__init__(clock)
        self._oracle = oracle
        self._machine = machine
        self._network = network
        self._server = server

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """List nothing: no request asks for it."""
        raise NotImplementedError

    def _create(self, run_id: str, fields: Fields, limit: float) -> Stamp:
        return self._ask(
            "create", run_id, limit, lambda by: self._server.create(by, run_id, fields)
        )

    def _read(self, run_ids: Sequence[str], limit: float) -> builtins.list[Record]:
        return self._ask("read", run_ids[0], limit, lambda by: self._server.read(run_ids))

    def _replace(self, run_id: str, fields: Fields, stamp: Stamp, limit: float) -> Stamp:
        return self._ask(
            "replace", run_id, limit, lambda by: self._server.replace(by, run_id, fields, stamp)
        )

    def _remove(self, run_id: str, stamp: Stamp, limit: float) -> None:
        return self._ask("remove", run_id, limit, lambda by: self._server.remove(by, run_id, stamp))

    def _ask(
        self, what: str, run_id: str, limit: float, ask: Callable[[Errand], _Answer | Conflict]
    ) -> _Answer:
        process = present()
        errand = process.errand
        self._oracle.asked(errand, limit)

        def apply(heard: bool) -> object:
            answer = ask(errand)
            if heard and process.name == "request":
                errand.seen[run_id] = (self._oracle.view(run_id), self._server.now())
            return answer

        try:
            answer = self._network.carry(self._machine, Call(what, what != "read", limit, apply))
        except NoAnswer as error:
            raise Unclear(str(error)) from error
        except Refusal as error:
            raise StoreError(str(error)) from error
        if isinstance(answer, Conflict):
            raise answer
        return cast("_Answer", answer)
