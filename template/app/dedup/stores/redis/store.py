"""The protocol on Redis: each operation is one script, and to repeat one is harmless (R10-R26).

A script decides by the record itself (`attempt_id`, and `written_at` plus `lease_seconds` against
the server's `TIME`, R16), so an answer that got lost is resolved by asking the same again. The
key's expiry is the retention, never the lease: a dead claim keeps its record (R29).
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from redis.exceptions import NoScriptError

from app.dedup.clock import Clock
from app.dedup.record import Decision, Record, Status, decide
from app.dedup.store import (
    Claim,
    ClaimAnswer,
    Claimed,
    Closed,
    Held,
    Lost,
    Mismatch,
    Query,
    Run,
    StoreError,
    Terms,
    Unreadable,
)
from app.dedup.stores.budget import CALL_TIMEOUT, Budget, insisted, pages, resolved
from app.dedup.stores.conditional import Unclear
from app.dedup.stores.redis.client import Client, Stale, by_server, check, errors, servers
from app.dedup.stores.redis.script import Answer, Script, micros
from app.logs import Log

_UNDO_TIMEOUT: Final = 2.0

_Clear = TypeVar("_Clear")

_log = Log(__name__)


class RedisStore:
    """The records under one prefix. The client is made on first use, once for all threads."""

    def __init__(
        self,
        connect: Callable[[], Client],
        prefix: str,
        clock: Clock,
        *,
        eviction_allowed: bool = False,
    ) -> None:
        self._connect = connect
        self._prefix = prefix
        self._clock = clock
        self._eviction_allowed = eviction_allowed
        self._lock = threading.Lock()
        self._client: Client | None = None

    def close(self) -> None:
        """Close the client's connections. The next use would make a new client."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    # ARGV: attempt_id, lease (s), retention (s), schedule time (µs), then job_name, project,
    # location, forced, and schedule_time and payload_sha256 or '' without; then, to take over a
    # record whose lease only the caller can judge, that whole record.
    CLAIM: Final = Script("""
        if ours() then return done() end
        local begun, seconds = number('written_at', 1e17), number('lease_seconds', 1e9)
        local over = begun and seconds and now >= begun + seconds * 1000000
        local dead = fields.status == 'in_progress' and (over or same(11))
        local payload = ARGV[10] ~= '' and fields.payload_sha256
        local other = payload and payload ~= ARGV[10]
        if not found or #found > 0 and (other or not dead) then return answer(0) end
        fields.fence = digits(math.max(now, (number('fence', 9e15) or 0) + 1))
        fields.recovered = dead and 'true' or 'false'
        write('status', 'in_progress', 'attempt_id', ARGV[1], 'fence', fields.fence,
          'recovered', fields.recovered, 'claimed_at', utc(now), 'job_name', ARGV[5],
          'project', ARGV[6], 'location', ARGV[7], 'forced', ARGV[8])
        if ARGV[9] ~= '' then write('schedule_time', ARGV[9]) end
        if ARGV[10] ~= '' then write('payload_sha256', ARGV[10]) end
        lease(ARGV[2])
        save_for(ARGV[3], ARGV[4])
        return done()
    """)

    def claim(self, run: Run, attempt_id: str, terms: Terms, *, timeout: float) -> ClaimAnswer:
        """Claim `run`: one call, be it new, a duplicate or a takeover."""
        arguments: list[str | bytes] = [
            attempt_id,
            _seconds(terms.lease),
            _seconds(terms.retention),
            _schedule(run),
            run.job_name,
            run.project,
            run.location,
            "true" if run.forced else "false",
            run.schedule_time.isoformat() if run.schedule_time else "",
            run.payload_sha256 or "",
        ]
        dead: tuple[bytes, ...] = ()
        budget = Budget(self._clock, timeout)
        for _ in budget:
            try:
                answer = self._ask(self.CLAIM, run.run_id, [*arguments, *dead], budget)
            except Unclear:
                self._undo(run.run_id, attempt_id)
                raise
            if answer.done:
                _tell(answer)
                stamp = answer.stamp
                claim = Claim(run, attempt_id, terms, answer.recovered, stamp.fence, stamp)
                return Claimed(claim, answer.read_at)
            record = answer.record
            match decide(record, attempt_id, run.payload_sha256):
                case Decision.WAIT:
                    return Held(record, record.lease_left(), record.read_at)
                case Decision.FINAL:
                    return Closed(record, record.read_at)
                case Decision.REFUSE:
                    return Unreadable(record, record.read_at)
                case Decision.MISMATCH:
                    return Mismatch(record, record.read_at)
                case Decision.TAKE_OVER | Decision.OWN:
                    # The script judges a lease only where it is written as scripts write it.
                    dead = answer.content or ()
        raise StoreError("the record kept changing while it was being claimed")

    # ARGV: attempt_id, lease (s).
    # Done again after a lost answer, it only starts the lease a little later.
    RENEW: Final = Script("""
        if not ours() then return answer(0) end
        lease(ARGV[2])
        save()
        return done()
    """)

    def renew(self, claim: Claim, *, timeout: float) -> Claim | Lost:
        """Start the lease anew: one call."""
        arguments = [claim.attempt_id, _seconds(claim.terms.lease)]
        answer = self._change(self.RENEW, claim, arguments, timeout)
        return _lost(answer, answer.done) or replace(claim, stamp=answer.stamp)

    # ARGV: attempt_id, status, retention (s), schedule time (µs), and the result if there is one.
    # Done again after a lost answer, it finds the record as it would leave it.
    FINISH: Final = Script("""
        if not ours() then
          local finished = fields.attempt_id == ARGV[1] and fields.status == ARGV[2]
          return answer(finished and 1 or 0)
        end
        write('status', ARGV[2], 'finished_at', utc(now))
        if ARGV[5] then write('result', ARGV[5]) end
        if fields.result and not ARGV[5] then redis.call('HDEL', key, 'result') end
        save_for(ARGV[3], ARGV[4])
        return done()
    """)

    def finish(
        self, claim: Claim, status: Status, result: str | None, *, timeout: float
    ) -> Lost | None:
        """Make the record final: one call, again and again where it is refused (R25)."""
        arguments = [claim.attempt_id, status.value, _seconds(claim.terms.retention)]
        arguments += [_schedule(claim.run), *([] if result is None else [result])]
        answer = insisted(
            self._clock,
            timeout,
            lambda left, problem: self._change(self.FINISH, claim, arguments, left),
        )
        return _lost(answer, answer.done)

    # ARGV: attempt_id, and in how many seconds the lease ends; without it the record is deleted.
    # Done again after a lost answer, it finds no record, or ends the lease a little later.
    RELEASE: Final = Script("""
        if not ours() then return answer(0) end
        if not ARGV[2] then
          redis.call('DEL', key)
          return done()
        end
        lease(ARGV[2])
        save()
        return done()
    """)

    def release(self, claim: Claim, *, settle: float | None, timeout: float) -> Lost | None:
        """Delete the record or end its lease in `settle` seconds: one call."""
        arguments = [claim.attempt_id, *([] if settle is None else [_seconds(settle)])]
        answer = self._change(self.RELEASE, claim, arguments, timeout)
        deleted = settle is None and answer.problem is not None and answer.found is None
        return _lost(answer, answer.done or deleted)

    # No ARGV.
    # It is a script because a record is judged by the server's time at which it was read.
    READ: Final = Script("return answer(1)")

    def get(self, run_id: str, *, timeout: float) -> Record | None:
        """Read a record: one call."""
        return self._ask(self.READ, run_id, [], Budget(self._clock, timeout)).found

    def get_many(self, run_ids: Iterable[str], *, timeout: float) -> Iterator[Record]:
        """Read records: one call of each server for some hundred."""
        for page in pages(run_ids):
            replies, _ = _until_clear(partial(self._replies, page), Budget(self._clock, timeout))
            for run_id, reply in replies.items():
                if isinstance(reply, Exception):
                    # Its server knows better where it is, or what is wrong.
                    record = self.get(run_id, timeout=timeout)
                else:
                    record = self.READ.read(run_id, reply).found
                if record is not None:
                    yield record

    def init(self, *, timeout: float) -> list[str]:
        """Check the servers; nothing is created."""
        self.check(timeout=timeout)
        return []

    def check(self, *, timeout: float) -> None:
        """Connect, which asks every server about eviction and logs what Redis cannot promise."""
        _until_clear(self._connected, Budget(self._clock, timeout))

    def list(self, query: Query, *, timeout: float) -> Iterator[Record]:
        """Look through the keys of every server, and read the records of some at a time."""
        # A server may show a key twice.
        run_ids = dict.fromkeys(self._run_ids(timeout))
        yield from filter(query.matches, self.get_many(run_ids, timeout=timeout))

    def _run_ids(self, timeout: float) -> Iterator[str]:
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", self._prefix) + "*"
        client, _ = _until_clear(self._connected, Budget(self._clock, timeout))
        for server in servers(client):
            cursor: int | None = None
            while cursor != 0:
                page = errors()(partial(server.scan, cursor or 0, match=pattern, count=1000))
                (cursor, keys), _ = _until_clear(page, Budget(self._clock, timeout))
                texts = (key.decode(errors="replace") for key in keys if isinstance(key, bytes))
                yield from (text.removeprefix(self._prefix) for text in texts)

    # ARGV: the whole record, names and values in turns.
    # Done again after a lost answer, it finds no record.
    DELETE: Final = Script("""
        if not same(1) then return answer(0) end
        redis.call('DEL', key)
        return done()
    """)

    def delete(self, record: Record, *, timeout: float) -> bool:
        """Delete a record that is as it was read: one call."""
        content = record.stamp.version
        if record.is_none or not isinstance(content, tuple):
            key = self._prefix + record.run_id
            raise StoreError(f"what is at {key} is no record; look at it, and delete it by hand")
        answer = self._ask(self.DELETE, record.run_id, content, Budget(self._clock, timeout))
        return answer.done or (answer.problem is not None and answer.found is None)

    def _change(
        self, script: Script, claim: Claim, arguments: Sequence[str], timeout: float
    ) -> Answer:
        return self._ask(script, claim.run.run_id, arguments, Budget(self._clock, timeout))

    def _undo(self, run_id: str, attempt_id: str) -> None:
        """Give back a claim that may have been made, as far as that can be done (R26)."""
        budget = Budget(self._clock, _UNDO_TIMEOUT)
        try:
            answer = self._ask(self.READ, run_id, [], budget)
            if answer.record.held_by(attempt_id):
                arguments = [attempt_id, *(["0"] if answer.recovered else [])]
                self._ask(self.RELEASE, run_id, arguments, budget)
        except StoreError as error:
            _log.warning("A claim in doubt ends with its lease.", error=error)

    def _ask(
        self, script: Script, run_id: str, arguments: Sequence[str | bytes], budget: Budget
    ) -> Answer:
        """Run a script, again and again while its answer is unclear and there is time (R26)."""
        answer, problem = _until_clear(partial(self._call, script, run_id, arguments), budget)
        return replace(answer, problem=problem)

    def _call(self, script: Script, run_id: str, arguments: Sequence[str | bytes]) -> Answer:
        client = self._connected()
        key = self._prefix + run_id
        try:
            with errors():
                try:
                    reply = client.evalsha(script.sha, 1, key, *arguments)
                except NoScriptError:
                    # The server has started since, and learns the script by running it.
                    reply = client.eval(script.text, 1, key, *arguments)
        except Stale:
            self._forget(client)
            raise
        return script.read(run_id, reply)

    def _replies(self, run_ids: Sequence[str]) -> dict[str, Any]:
        """Return what `READ` replies about each record, where that may be an error."""
        client = self._connected()
        keys = {self._prefix + run_id: run_id for run_id in run_ids}
        found: dict[str, Any] = {}
        try:
            with errors():
                for server, there in by_server(client, keys):
                    pipeline = server.pipeline(transaction=False)
                    # The first one teaches the script to a server that does not know it.
                    pipeline.eval(self.READ.text, 1, there[0])
                    for key in there[1:]:
                        pipeline.evalsha(self.READ.sha, 1, key)
                    replies = pipeline.execute(raise_on_error=False)
                    found |= zip((keys[key] for key in there), replies, strict=True)
        except Unclear:
            # Here it is not the client that asks another node of a cluster where one is gone.
            self._forget(client)
            raise
        return found

    def _forget(self, client: Client) -> None:
        with self._lock:
            if self._client is client:
                self._client = None

    def _connected(self) -> Client:
        """Return the client; make it and check its servers if there is none."""
        client = self._client
        if client is not None:
            return client
        if not self._lock.acquire(timeout=CALL_TIMEOUT):
            raise Unclear("other threads are still connecting to Redis")
        try:
            if self._client is None:
                with errors(), ExitStack() as unless_good:
                    client = self._connect()
                    unless_good.callback(client.close)
                    check(client, eviction_allowed=self._eviction_allowed)
                    unless_good.pop_all()
                self._client = client
            return self._client
        finally:
            self._lock.release()


def _until_clear(call: Callable[[], _Clear], budget: Budget) -> tuple[_Clear, Unclear | None]:
    """Return what a call answers, and the last problem that it had before."""
    problem: Unclear | None = None
    for _ in budget:
        try:
            return call(), problem
        except Unclear as error:
            problem = error
            budget.pause()
    raise problem or StoreError("there was no time to ask Redis")


def _lost(answer: Answer, done: bool) -> Lost | None:
    if not done:
        return Lost(answer.found)
    _tell(answer)
    return None


def _tell(answer: Answer) -> None:
    if answer.problem is not None:
        resolved(answer.problem)


def _schedule(run: Run) -> str:
    return micros(run.schedule_time) if run.schedule_time else "0"


def _seconds(seconds: float) -> str:
    return f"{seconds:.6f}"
