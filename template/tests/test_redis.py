"""What only Redis has: scripts that decide, keys that expire, values of any type."""

import logging
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from app.dedup.record import Decision, Status, decide
from app.dedup.store import (
    Claim,
    ClaimAnswer,
    Claimed,
    Closed,
    Held,
    Lost,
    Query,
    Run,
    StoreError,
    Terms,
    Unreadable,
)
from app.dedup.stores.redis.address import Address
from app.dedup.stores.redis.client import Client, connect
from app.dedup.stores.redis.script import micros
from app.dedup.stores.redis.store import RedisStore
from tests.support.command import Command
from tests.support.faults import Kind
from tests.support.steps import T, claimed, finished, held
from tests.support.stores.redis import RedisHarness

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class TestDecision:
    ANSWERS: dict[Decision, type[ClaimAnswer]] = {  # noqa: RUF012 never written
        Decision.OWN: Claimed,
        Decision.TAKE_OVER: Claimed,
        Decision.WAIT: Held,
        Decision.FINAL: Closed,
        Decision.REFUSE: Unreadable,
    }

    def test_of_the_script_is_that_of_every_store(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R12-R17: for every way in which the fields that count can be there, odd or missing."""
        store, now = redis_harness.open(), redis_harness.now()
        times = [None, micros(now), micros(now - 2 * HOUR), micros(now + HOUR), "9" * 18]
        leases = [None, "60", "0", "7200.5", "-1", "0x10", "9" * 400]
        ends = [None, now + HOUR, now - HOUR, "soon"]
        cases = [
            *product(["in_progress"], ["one", "two"], leases, ends, times),
            *product([None, "completed", "failed", "Completed"], ["two"], ["0"], [None], times),
        ]
        for number, (status, attempt, lease, end, at) in enumerate(cases):
            each = replace(run, run_id=f"{number:064}")
            fields = {"status": status, "attempt_id": attempt, "lease_seconds": lease}
            redis_harness.edit(
                each.run_id, {**fields, "lease_expires": end, "written_at": at, "x": "1"}
            )
            record = store.get(each.run_id, timeout=T)
            assert record is not None
            decision = decide(record, "two")
            answer = store.claim(each, "two", terms, timeout=T)
            assert isinstance(answer, self.ANSWERS[decision]), (fields, end, at, decision)
            if isinstance(answer, Claimed) and decision is Decision.TAKE_OVER:
                assert answer.claim.recovered

    def test_about_a_persons_record_without_a_time_is_to_wait_for_good(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R17: nothing in Redis tells when it was written."""
        redis_harness.edit(run.run_id, {"status": "in_progress", "lease_seconds": "60"})
        assert held(redis_harness.open(), run, "two", terms).lease_left == float("inf")

    def test_leaves_a_lease_that_only_a_person_wrote_to_one_winner(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R13: somebody is quicker between the look at the record and the takeover."""
        redis_harness.edit(
            run.run_id,
            {"status": "in_progress", "lease_expires": redis_harness.now() - HOUR},
        )
        other = redis_harness.open()
        redis_harness.faults.plan = [Kind.NONE, lambda: claimed(other, run, "one", terms)]
        held(redis_harness.open(), run, "two", terms)


class TestOperation:
    def test_repeated_is_answered_as_the_first(
        self, redis_harness: RedisHarness, run: Run, short: Terms, terms: Terms
    ) -> None:
        """R15, R26: this is how lost answers are resolved."""
        store = redis_harness.open()
        claimed(store, run, "one", short)
        redis_harness.pass_time(0.4)
        first = claimed(store, run, "two", terms).claim
        again = claimed(store, run, "two", terms).claim
        assert first.recovered
        assert (again.recovered, again.fence) == (first.recovered, first.fence)
        assert isinstance(store.renew(first, timeout=T), Claim)
        assert isinstance(store.renew(first, timeout=T), Claim)
        for _ in range(2):
            assert store.release(first, settle=30.0, timeout=T) is None
        for _ in range(2):
            assert store.finish(first, Status.COMPLETED, '{"a":1}', timeout=T) is None

    def test_in_doubt_after_a_takeover_leaves_the_next_attempt_to_know(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R21, R26: the claim is given back, and the record is kept."""
        redis_harness.plant(run.run_id, {"status": "in_progress", "lease_seconds": 0})
        redis_harness.faults.plan = [Kind.LOST_ANSWER] * 2
        store = redis_harness.open()
        with pytest.raises(StoreError, match="injected"):
            store.claim(run, "one", terms, timeout=0.0)
        redis_harness.faults.plan = []
        assert claimed(store, run, "two", terms).claim.recovered

    def test_costs_one_command_and_the_first_use_one_more(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """By the server's own count; neither greeting nor library name is sent."""
        address = Address.parse(redis_harness.server.url)
        store = RedisStore(lambda: connect(address), redis_harness.prefix, redis_harness.clock())
        redis_harness.client.config_resetstat()
        claim = claimed(store, run, "one", terms).claim
        held(store, run, "two", terms)
        store.renew(claim, timeout=T)
        store.finish(claim, Status.COMPLETED, None, timeout=T)
        store.get(run.run_id, timeout=T)
        assert self.commands(redis_harness) == {"info": 1, "evalsha": 5}
        store.close()

    def test_on_a_server_that_forgot_its_scripts_costs_one_command_more(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        store = redis_harness.open()
        store.get(run.run_id, timeout=T)
        redis_harness.client.script_flush()
        redis_harness.client.config_resetstat()
        finished(store, claimed(store, run, "one", terms))
        assert self.commands(redis_harness) == {"evalsha": 2, "eval": 2}
        redis_harness.client.config_resetstat()
        assert isinstance(store.claim(run, "two", terms, timeout=T), Closed)
        assert self.commands(redis_harness) == {"evalsha": 1}

    def test_of_many_reads_is_one_pipeline_that_teaches_the_script(
        self, redis_harness: RedisHarness
    ) -> None:
        """R40: also to a server that does not know it."""
        store = redis_harness.open()
        store.check(timeout=T)
        redis_harness.client.script_flush()
        redis_harness.client.config_resetstat()
        assert [*store.get_many([f"{number:064}" for number in range(7)], timeout=T)] == []
        assert self.commands(redis_harness) == {"eval": 1, "evalsha": 6}
        assert redis_harness.faults.calls == ["read"]

    @staticmethod
    def commands(harness: RedisHarness) -> dict[str, int]:
        """Return how often clients sent which command, those of this test's own client left out."""
        own = {"config|resetstat", "script|flush"}
        stats = harness.client.info("commandstats")
        inside = {
            "type",
            "time",
            "hget",
            "hset",
            "hgetall",
            "hmget",
            "hlen",
            "hdel",
            "pexpireat",
            "del",
        }
        return {
            name: stat["calls"]
            for name, stat in ((key.removeprefix("cmdstat_"), stats[key]) for key in stats)
            if name not in own | inside
        }


class TestRecord:
    @pytest.mark.parametrize("lease", [0.1, 3600.0])
    def test_expires_with_its_retention_and_never_with_its_lease(
        self, redis_harness: RedisHarness, run: Run, lease: float
    ) -> None:
        """R29: the server deletes it at the moment that it shows."""
        store = redis_harness.open()
        claim = claimed(store, run, "one", Terms(lease, 7200.0)).claim
        self.check_expiry(redis_harness, run.run_id, 7200.0)
        redis_harness.pass_time(0.2)
        store.renew(claim, timeout=T)
        store.finish(claim, Status.COMPLETED, None, timeout=T)
        self.check_expiry(redis_harness, run.run_id, 7200.0)

    def check_expiry(self, harness: RedisHarness, run_id: str, retention: float) -> None:
        record = harness.open().get(run_id, timeout=T)
        assert record is not None
        assert record.expire_at is not None
        expires = datetime.fromtimestamp(harness.expires(run_id) / 1000, UTC)
        assert abs(expires - record.expire_at) < timedelta(milliseconds=2)
        assert abs(expires - harness.now() - timedelta(seconds=retention)) < timedelta(seconds=5)

    def test_of_a_finished_run_without_expiry_gets_one(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R29: a person's record has none until it is taken over."""
        redis_harness.plant(run.run_id, {"status": "in_progress", "lease_seconds": 0})
        assert redis_harness.expires(run.run_id) == -1
        claimed(redis_harness.open(), run, "one", terms)
        assert redis_harness.expires(run.run_id) > 0

    @pytest.mark.parametrize(
        "moment",
        [
            "2027-12-31T23:59:59.999999",
            "2028-02-28T23:59:59",
            "2028-02-29T00:00:00.000001",
            "2099-12-31T23:59:59",
            "2100-02-28T12:00:00",
            "2100-03-01T00:00:00",
            "2400-02-29T06:30:15",
            "9998-01-01T00:00:00",
        ],
    )
    def test_shows_times_of_the_calendar(
        self, redis_harness: RedisHarness, run: Run, moment: str
    ) -> None:
        """R29: the script writes them, by the server's clock."""
        schedule_time = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        moved = replace(run, schedule_time=schedule_time)
        store = redis_harness.open()
        answer = claimed(store, moved, "one", Terms(60.0, 86400.0))
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.expire_at is not None
        assert abs(record.expire_at - schedule_time - DAY) < timedelta(milliseconds=1)
        assert record.schedule_time == schedule_time
        assert record.claimed_at == answer.now

    def test_is_claimed_with_a_higher_fence_even_if_the_clock_went_back(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        ahead = int(micros(redis_harness.now() + HOUR))
        redis_harness.plant(
            run.run_id, {"status": "in_progress", "lease_seconds": 0, "fence": ahead}
        )
        claim = claimed(redis_harness.open(), run, "one", terms).claim
        assert claim.fence == ahead + 1

    def test_that_is_no_text_is_read_all_the_same(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R17."""
        key = redis_harness.prefix + run.run_id
        redis_harness.client.hset(key, mapping={b"job_name": b"\xff\xfe", b"status": b"completed"})
        store = redis_harness.open()
        answer = store.claim(run, "one", terms, timeout=T)
        assert isinstance(answer, Closed)
        assert store.delete(answer.record, timeout=T)

    def test_edited_by_a_person_is_not_deleted_as_it_was(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R40: an edit changes no time and no version number, so all of it is compared."""
        store = redis_harness.open()
        claimed(store, run, "one", terms)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        redis_harness.edit(run.run_id, {"note": "mine"})
        assert not store.delete(record, timeout=T)
        assert redis_harness.raw(run.run_id) is not None


class TestKeyOfAnotherType:
    @pytest.fixture(params=["string", "list", "set", "stream"])
    def planted(self, request: pytest.FixtureRequest, redis_harness: RedisHarness, run: Run) -> str:
        key, client = redis_harness.prefix + run.run_id, redis_harness.client
        match request.param:
            case "string":
                client.set(key, "completed")
            case "list":
                client.rpush(key, "completed")
            case "set":
                client.sadd(key, "completed")
            case "stream":
                client.xadd(key, {"status": "completed"})
        return key

    def test_is_unreadable_and_left_alone(
        self, redis_harness: RedisHarness, run: Run, terms: Terms, planted: str
    ) -> None:
        """R17."""
        store = redis_harness.open()
        before = redis_harness.client.dump(planted)
        assert isinstance(store.claim(run, "one", terms, timeout=T), Unreadable)
        record = store.get(run.run_id, timeout=T)
        assert record is not None
        assert record.status is None
        assert [each.run_id for each in store.list(Query(), timeout=T)] == [run.run_id]
        with pytest.raises(StoreError, match="is no record"):
            store.delete(record, timeout=T)
        assert redis_harness.client.dump(planted) == before

    def test_that_replaced_a_claim_ends_it(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        """R24: the claim is lost, and nobody says that the run is done."""
        store = redis_harness.open()
        claim = claimed(store, run, "one", terms).claim
        redis_harness.client.set(redis_harness.prefix + run.run_id, "x")
        for answer in (
            store.renew(claim, timeout=T),
            store.finish(claim, Status.COMPLETED, None, timeout=T),
            store.release(claim, settle=None, timeout=T),
        ):
            assert isinstance(answer, Lost)
            assert answer.record is not None
            assert answer.record.status is None


class TestWhatIsNoRecord:
    """R17, R40: a list under a run's key; people are told that it goes by hand."""

    def test_is_no_stuck_run_that_a_release_helps(
        self, redis_harness: RedisHarness, run: Run, capsys: pytest.CaptureFixture[str]
    ) -> None:
        redis_harness.client.rpush(redis_harness.prefix + run.run_id, "x")
        command = Command(redis_harness, capsys)
        for argv in (["stuck"], ["release", run.run_id, "--force"], ["redo", run.run_id]):
            done = command(*argv)
            assert "delete it by hand" in done.out + done.err
            assert "--force" not in done.out + done.err
            assert done.status in (1, 3)
        assert redis_harness.client.llen(redis_harness.prefix + run.run_id) == 1


class TestPrefix:
    def test_keeps_stores_apart_and_is_no_pattern(
        self, redis_harness: RedisHarness, run: Run, terms: Terms
    ) -> None:
        base = redis_harness.prefix
        for prefix in (f"{base}[a]*?\\:", f"{base}a:"):
            redis_harness.prefix = prefix
            claimed(redis_harness.open(), run, prefix, terms)
        for prefix in (f"{base}[a]*?\\:", f"{base}a:"):
            redis_harness.prefix = prefix
            (record,) = redis_harness.open().list(Query(), timeout=T)
            assert (record.run_id, record.attempt_id) == (run.run_id, prefix)


class TestClient:
    def test_is_made_once_by_many_threads(
        self, redis_harness: RedisHarness, run: Run, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Bug row 6: and what replication means is said once."""
        made: list[Client] = []

        def make() -> Client:
            made.append(connect(Address.parse(redis_harness.server.url)))
            return made[-1]

        store = RedisStore(make, redis_harness.prefix, redis_harness.clock())
        start = threading.Barrier(16)

        def use() -> None:
            start.wait()
            store.get(run.run_id, timeout=T)

        threads = [threading.Thread(target=use) for _ in range(16)]
        with caplog.at_level(logging.INFO, "app"):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(made) == 1
        assert caplog.text.count("replicates asynchronously") == 1
        store.close()
        store.get(run.run_id, timeout=T)
        assert len(made) == 2
        store.close()

    @pytest.mark.parametrize("error", [UnicodeError("label empty"), ValueError("no port")])
    def test_that_cannot_be_made_is_the_stores_own_error(
        self, redis_harness: RedisHarness, run: Run, error: Exception
    ) -> None:
        """R25: whatever the client says about an address."""

        def make() -> Client:
            raise error

        store = RedisStore(make, redis_harness.prefix, redis_harness.clock())
        with pytest.raises(StoreError, match=str(error)):
            store.get(run.run_id, timeout=T)
