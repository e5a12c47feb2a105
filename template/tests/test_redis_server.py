"""Redis servers as they are: refusing, full, hanging, restarted, encrypted, many."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from redis._parsers.base import BaseParser
from redis.exceptions import ResponseError

from app.dedup import outcome
from app.dedup.attempt import Attempt
from app.dedup.store import Claimed, Closed, Run, Store, StoreError, Terms
from app.dedup.stores.conditional import Unclear
from app.dedup.stores.redis.client import Stale, errors
from tests.support.protocol import Instance, Never
from tests.support.redis_server import Server
from tests.support.steps import T, claimed, finished
from tests.support.stores.redis import RedisHarness

Start = Callable[..., Server]
Opened = Callable[[str], Store]
DURABLE = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")


def refused(store: Store, run: Run, terms: Terms) -> str:
    """Return why a claim is refused, which is known at once."""
    began = time.monotonic()
    with pytest.raises(StoreError) as caught:
        store.claim(run, "one", terms, timeout=T)
    assert not isinstance(caught.value, Unclear), caught.value
    assert time.monotonic() - began < 3.0
    return str(caught.value)


class TestEviction:
    """A server that evicts records forgets that runs are done."""

    @pytest.mark.parametrize("policy", ["volatile-lru", "allkeys-random"])
    def test_is_refused_with_the_policy_and_the_remedy(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms, policy: str
    ) -> None:
        server = start_redis("--maxmemory-policy", policy)
        store = opened(server.url)
        reason = refused(store, run, terms)
        assert policy in reason
        assert "noeviction" in reason
        assert "eviction=warn" in reason
        with pytest.raises(StoreError, match=policy):
            store.init(timeout=T)
        with server.client() as client:
            assert not client.keys()
            client.config_set("maxmemory-policy", "noeviction")
        assert store.init(timeout=T) == []
        claimed(store, run, "one", terms)

    def test_may_be_allowed_and_is_warned_of(
        self,
        start_redis: Start,
        opened: Opened,
        run: Run,
        terms: Terms,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        server = start_redis("--maxmemory-policy", "volatile-lru")
        claimed(opened(f"{server.url}?eviction=warn"), run, "one", terms)
        assert "volatile-lru" in caplog.text

    def test_that_nobody_may_ask_about_is_refused_and_may_be_allowed(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        server = start_redis()
        with server.client() as client:
            client.execute_command("ACL", "SETUSER", "default", "-info")
        assert "may not use INFO" in refused(opened(server.url), run, terms)
        claimed(opened(f"{server.url}?eviction=warn"), run, "one", terms)

    def test_is_known_where_the_configuration_is_kept_secret(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        """As in Memorystore, whose servers refuse CONFIG, SCRIPT and CLIENT SETINFO."""
        server = start_redis("--maxmemory-policy", "volatile-lru")
        with server.client() as client:
            client.execute_command(
                *("ACL", "SETUSER", "default", "-config", "-script", "-client", "-hello")
            )
        assert "volatile-lru" in refused(opened(server.url), run, terms)


class TestRefusal:
    @pytest.mark.parametrize("account", ["", ":wrong@", "nobody:wrong@"])
    def test_of_the_account_is_told_at_once_without_its_password(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms, account: str
    ) -> None:
        server = start_redis("--requirepass", "s/cret")
        url = f"redis://{account}127.0.0.1:{server.port}"
        reason = refused(opened(url), run, terms)
        assert "refused the account" in reason
        assert "wrong" not in reason
        claimed(opened(f"redis://:s%2Fcret@127.0.0.1:{server.port}"), run, "one", terms)

    def test_of_a_command_is_told_at_once(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        server = start_redis()
        with server.client() as client:
            client.execute_command("ACL", "SETUSER", "default", "-evalsha")
        assert "refused the account" in refused(opened(server.url), run, terms)

    def test_of_a_full_server_is_told_at_once_and_writes_nothing(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        """R25: with `noeviction` nothing old is lost, and nothing new is taken."""
        server = start_redis()
        store = opened(server.url)
        done = replace(run, run_id="b" * 64)
        finished(store, claimed(store, done, "one", terms))
        with server.client() as client:
            client.config_set("maxmemory", "1")
            assert "maxmemory" in refused(store, run, terms)
            assert store.get(run.run_id, timeout=T) is None
            assert isinstance(store.claim(done, "two", terms, timeout=T), Closed)
            client.config_set("maxmemory", "0")
        claimed(store, run, "one", terms)

    def test_of_a_server_that_cannot_save_is_told_at_once(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        server = start_redis("--save", "3600 1", "--dbfilename", "taken")
        fail_to_save(server)
        assert "MISCONF" in refused(opened(server.url), run, terms)

    def test_of_the_end_of_a_run_is_asked_again_until_the_server_has_room(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        """R25: the work is done."""
        server = start_redis()
        store = opened(server.url)
        answer = claimed(store, run, "one", terms)
        with server.client() as client:
            client.config_set("maxmemory", "1")
            timer = threading.Timer(0.5, client.config_set, ("maxmemory", "0"))
            timer.start()
            finished(store, answer)
            timer.join()

    def test_of_the_end_of_a_run_is_asked_again_until_the_server_can_save(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        """R25."""
        server = start_redis("--save", "3600 1", "--dbfilename", "taken")
        store = opened(server.url)
        answer = claimed(store, run, "one", terms)
        fail_to_save(server)
        with server.client() as client:
            setting = ("stop-writes-on-bgsave-error", "no")
            timer = threading.Timer(0.5, client.config_set, setting)
            timer.start()
            finished(store, answer)
            timer.join()


WRAPPED = "ERR Error running script (call to f_3c06): @user_script:53: @user_script: 53: -"
"""What Redis 5 and 6 put before the error of a command in a script."""


class TestErrorInAScript:
    """R26: of servers before Redis 7, as they were recorded."""

    @pytest.mark.parametrize(
        ("said", "kind", "told"),
        [
            ("READONLY You can't write against a read only replica.", Stale, "takes no writes"),
            ("NOREPLICAS Not enough good replicas to write.", Unclear, "clearly"),
            ("BUSY Redis is busy running a script.", Unclear, "clearly"),
            ("LOADING Redis is loading the dataset in memory", Unclear, "clearly"),
            ("OOM command not allowed when used memory > 'maxmemory'.", StoreError, "is full"),
            ("MISCONF Redis is configured to save RDB snapshots, but", StoreError, "refused"),
            ("WRONGTYPE Operation against a key", StoreError, "refused"),
        ],
    )
    @pytest.mark.parametrize("begin", ["", WRAPPED])
    def test_means_what_its_code_says(
        self, begin: str, said: str, kind: type[StoreError], told: str
    ) -> None:
        with pytest.raises(StoreError, match=told) as caught, errors():
            raise BaseParser.parse_error(begin + said)  # type: ignore[no-untyped-call]
        assert type(caught.value) is kind


def fail_to_save(server: Server) -> None:
    """Let a server that was told to save into the file `taken` fail to, and wait until it knows."""
    (server.folder / "taken").mkdir()
    with server.client() as client:
        client.bgsave()
        end = time.monotonic() + 10
        while client.info("persistence")["rdb_last_bgsave_status"] == "ok":
            assert time.monotonic() < end
            time.sleep(0.02)


class TestUnclearAnswer:
    """R26: what passes is asked again while there is time."""

    def test_of_a_replica_ends_when_it_becomes_the_primary(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        server, other = start_redis(), start_redis()
        store = opened(server.url)
        store.get(run.run_id, timeout=T)
        with server.client() as client:
            client.replicaof("127.0.0.1", other.port)
            with pytest.raises(Unclear, match="takes no writes"):
                store.claim(run, "one", terms, timeout=0.3)
            timer = threading.Timer(0.5, client.replicaof, ("NO", "ONE"))
            timer.start()
            claimed(store, run, "one", terms)
            timer.join()

    def test_of_a_busy_server_ends_with_its_work(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        server = start_redis("--busy-reply-threshold", "50")
        store = opened(server.url)
        store.get(run.run_id, timeout=T)
        with server.client() as client, server.client() as killer:

            def loop() -> None:
                with pytest.raises(ResponseError, match="killed"):
                    client.eval("while true do end", 0)

            work = threading.Thread(target=loop)
            work.start()
            time.sleep(0.2)
            with pytest.raises(Unclear, match="BUSY"):
                store.claim(run, "one", terms, timeout=0.3)
            killer.script_kill()
            work.join()
        claimed(store, run, "one", terms)

    def test_of_a_server_that_is_down_ends_when_it_is_up(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms
    ) -> None:
        server = start_redis()
        store = opened(server.url)
        store.get(run.run_id, timeout=T)
        server.stop()
        with pytest.raises(Unclear, match="did not answer clearly"):
            store.claim(run, "one", terms, timeout=0.3)
        timer = threading.Timer(0.5, server.start)
        timer.start()
        claimed(store, run, "one", terms)
        timer.join()

    @pytest.mark.parametrize("warm", [True, False], ids=["connected", "cold"])
    def test_of_a_server_that_hangs_is_given_up_in_time(
        self, start_redis: Start, opened: Opened, run: Run, terms: Terms, warm: bool
    ) -> None:
        """R26, R27: the longest wait is the operation's time, one call and one connection."""
        server = start_redis()
        store = opened(server.url)
        claim = claimed(opened(server.url), run, "one", terms).claim
        if warm:
            store.get(run.run_id, timeout=T)
        with server.hanging():
            began = time.monotonic()
            with pytest.raises(Unclear, match="Timeout"):
                store.release(claim, settle=None, timeout=2.0)
            assert time.monotonic() - began < 4.5
        # What hung may have been done since: then there is no record, and else it is still ours.
        assert isinstance(store.claim(run, "one", terms, timeout=T), Claimed)


class TestRestart:
    def start_and_crash(self, server: Server) -> tuple[outcome.Outcome, outcome.Outcome]:
        """Crash and start the server during a job; return how it and its duplicate end."""
        harness = RedisHarness(server)
        with harness.client:
            one, two = Instance(harness, lease=1.0), Instance(harness)
            moment = harness.now() - timedelta(seconds=5)

            def job(attempt: Attempt) -> None:
                server.stop()
                server.start()
                # A renewal meets the new server.
                assert not attempt.lost.wait(0.5)

            first = one.deliver(moment, job)
            never = Never()
            second = two.deliver(moment, never) if isinstance(first, outcome.Processed) else first
            assert not never.ran
            return first, second

    def test_during_a_job_of_a_server_that_saves_all_loses_nothing(
        self, start_redis: Start
    ) -> None:
        """R28: killed by SIGKILL; the run is completed, once."""
        first, second = self.start_and_crash(start_redis(*DURABLE))
        assert isinstance(first, outcome.Processed)
        assert isinstance(second, outcome.Duplicate)

    def test_of_a_server_that_saves_nothing_is_never_answered_with_success(
        self, start_redis: Start
    ) -> None:
        """R24: the record is gone, so that the retry does the work again."""
        server = start_redis()
        harness = RedisHarness(server)

        def job(attempt: Attempt) -> None:
            server.stop()
            server.start()

        with harness.client:
            ended = Instance(harness).deliver(harness.now(), job)
        assert isinstance(ended, outcome.Lost)
        assert ended.lease_left is None
