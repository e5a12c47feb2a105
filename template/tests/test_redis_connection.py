"""Ways to a Redis store: TLS, access tokens, a cluster."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import google.auth
import pytest
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError
from redis.cluster import RedisCluster

from app.dedup.store import Closed, Query, Run, Store, StoreError, Terms
from app.dedup.stores.conditional import Unclear
from dev.server import free_port
from tests.support.redis_server import Server
from tests.support.steps import T, claimed, finished, held

Start = Callable[..., Server]
Opened = Callable[[str], Store]


@dataclass(frozen=True, slots=True)
class Secure:
    """A server that is reached by TLS on `port`, with a certificate for 127.0.0.1 by `ca`."""

    server: Server
    port: int
    ca: Path

    def url(self, more: str = "", host: str = "127.0.0.1", account: str = "") -> str:
        return f"rediss://{account}{host}:{self.port}?ssl_ca_certs={self.ca}{more}"


@pytest.fixture
def secure(start_redis: Start, tmp_path: Path) -> Secure:
    paths = {name: tmp_path / name for name in ("ca", "ca-key", "key", "request", "cert", "names")}
    paths["names"].write_text("subjectAltName=IP:127.0.0.1\n")

    def openssl(command: str) -> None:
        words = [str(paths.get(word.removeprefix("@"), word)) for word in command.split()]
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    openssl("req -x509 -newkey rsa:2048 -nodes -subj /CN=test -keyout @ca-key -out @ca")
    openssl("req -newkey rsa:2048 -nodes -subj /CN=redis -keyout @key -out @request")
    openssl(
        "x509 -req -in @request -CA @ca -CAkey @ca-key -CAcreateserial -extfile @names -out @cert"
    )
    port = free_port()
    files = ("--tls-cert-file", str(paths["cert"]), "--tls-key-file", str(paths["key"]))
    trust = ("--tls-ca-cert-file", str(paths["ca"]), "--tls-auth-clients", "no")
    return Secure(start_redis("--tls-port", str(port), *files, *trust), port, paths["ca"])


def refused(store: Store, run: Run, terms: Terms) -> str:
    """Return why a claim is refused, which is known at once."""
    began = time.monotonic()
    with pytest.raises(StoreError) as caught:
        store.claim(run, "one", terms, timeout=T)
    assert not isinstance(caught.value, Unclear), caught.value
    assert time.monotonic() - began < 3.0
    return str(caught.value)


class TestTls:
    def test_to_a_trusted_server_works(
        self, secure: Secure, opened: Opened, run: Run, terms: Terms
    ) -> None:
        store = opened(secure.url())
        finished(store, claimed(store, run, "one", terms))

    def test_to_an_unknown_authority_is_refused_at_once(
        self, secure: Secure, opened: Opened, run: Run, terms: Terms
    ) -> None:
        store = opened(f"rediss://127.0.0.1:{secure.port}")
        assert "not trusted" in refused(store, run, terms)

    def test_to_another_host_than_the_certificate_names_is_refused_or_allowed(
        self, secure: Secure, opened: Opened, run: Run, terms: Terms
    ) -> None:
        assert "not trusted" in refused(opened(secure.url(host="localhost")), run, terms)
        allowed = secure.url("&ssl_check_hostname=false", host="localhost")
        claimed(opened(allowed), run, "one", terms)


class Token:
    """Google credentials whose token the test gives."""

    def __init__(self, token: str) -> None:
        self.next = token
        self.token: str | None = None
        self.valid = False
        self.error: GoogleAuthError | None = None

    def refresh(self, request: object) -> None:
        if self.error:
            raise self.error
        self.token, self.valid = self.next, True


class TestAccessToken:
    @pytest.fixture
    def credentials(self, monkeypatch: pytest.MonkeyPatch) -> Token:
        credentials = Token("token-1")
        monkeypatch.setattr(google.auth, "default", lambda scopes: (credentials, "my-project"))
        return credentials

    def test_is_the_password_and_a_new_connection_has_a_new_one(
        self, secure: Secure, opened: Opened, run: Run, terms: Terms, credentials: Token
    ) -> None:
        with secure.server.client() as client:
            client.config_set("requirepass", "token-1")
            store = opened(secure.url("&auth=iam"))
            answer = claimed(store, run, "one", terms)
            # An hour later: the old token is worth nothing, and connections live on.
            client.execute_command("AUTH", "token-1")
            client.config_set("requirepass", "token-2")
            credentials.next, credentials.valid = "token-2", False
            held(store, run, "two", terms)
            client.client_kill_filter(_type="normal", skipme=True)
            finished(store, answer)
        assert credentials.token == "token-2"

    def test_that_is_wrong_is_refused_and_not_shown(
        self, secure: Secure, opened: Opened, run: Run, terms: Terms, credentials: Token
    ) -> None:
        with secure.server.client() as client:
            client.config_set("requirepass", "token-2")
        reason = refused(opened(secure.url("&auth=iam")), run, terms)
        assert "refused the account" in reason
        assert "token-1" not in reason

    def test_without_credentials_is_refused(
        self,
        secure: Secure,
        opened: Opened,
        run: Run,
        terms: Terms,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def default(scopes: object) -> None:
            raise DefaultCredentialsError("none found")  # type: ignore[no-untyped-call]

        monkeypatch.setattr(google.auth, "default", default)
        assert "none found" in refused(opened(secure.url("&auth=iam")), run, terms)

    def test_that_does_not_come_is_asked_for_again(
        self, secure: Secure, opened: Opened, run: Run, terms: Terms, credentials: Token
    ) -> None:
        """R26: the metadata server can be late."""
        with secure.server.client() as client:
            client.config_set("requirepass", "token-1")
        credentials.error = TransportError("late")  # type: ignore[no-untyped-call]
        store = opened(secure.url("&auth=iam"))
        with pytest.raises(Unclear, match="late"):
            store.claim(run, "one", terms, timeout=0.2)
        credentials.error = None
        claimed(store, run, "one", terms)


@pytest.fixture(scope="module")
def masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """A cluster of three masters, without replicas."""
    folder = tmp_path_factory.mktemp("cluster")
    options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "60000", "--save", "")
    with ExitStack() as stack:
        servers = [Server(folder / str(number), *options) for number in range(3)]
        for server in servers:
            stack.callback(server.stop)
        addresses = [f"127.0.0.1:{server.port}" for server in servers]
        command = ["redis-cli", "--cluster", "create", *addresses, "--cluster-yes"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        for server in servers:
            wait_for_cluster(server)
        yield servers


def wait_for_cluster(server: Server) -> None:
    end = time.monotonic() + 30
    with server.client() as client:
        while client.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
            assert time.monotonic() < end
            time.sleep(0.05)


class TestCluster:
    @pytest.fixture
    def url(self, masters: list[Server]) -> str:
        prefix = f"runs-{os.urandom(8).hex()}:"
        return f"{masters[0].url}?cluster=true&prefix={prefix}"

    def test_keeps_runs_on_every_node_and_each_on_one(
        self, masters: list[Server], opened: Opened, url: str, run: Run, short: Terms, terms: Terms
    ) -> None:
        """R10-R20, over several slots; no node knows the scripts at first."""
        store, other = opened(url), opened(url)
        runs = [replace(run, run_id=f"{number:064}") for number in range(12)]
        for each in runs:
            answer = claimed(store, each, "one", terms)
            held(other, each, "two", terms)
            finished(store, answer, '{"a":1}')
            duplicate = other.claim(each, "two", terms, timeout=T)
            assert isinstance(duplicate, Closed)
            assert duplicate.record.result == {"a": 1}
        dead = claimed(store, run, "one", short)
        time.sleep(0.4)
        taken = claimed(other, run, "two", terms).claim
        assert taken.recovered
        assert taken.fence > dead.claim.fence
        assert other.release(taken, settle=None, timeout=T) is None
        for server in masters:
            with server.client() as client:
                assert client.dbsize() > 0

    def test_lists_and_deletes_on_every_node(
        self, opened: Opened, url: str, run: Run, terms: Terms
    ) -> None:
        """R40."""
        store = opened(url)
        for number in range(12):
            claimed(store, replace(run, run_id=f"{number:064}"), "one", terms)
        records = list(store.list(Query(job_name="nightly"), timeout=T))
        assert len({record.run_id for record in records}) == len(records) == 12
        assert all(store.delete(record, timeout=T) for record in records)
        assert list(store.list(Query(), timeout=T)) == []

    def test_is_asked_about_eviction_on_every_node(
        self, masters: list[Server], opened: Opened, url: str, run: Run, terms: Terms
    ) -> None:
        with masters[2].client() as client, ExitStack() as stack:
            client.config_set("maxmemory-policy", "allkeys-lru")
            stack.callback(client.config_set, "maxmemory-policy", "noeviction")
            reason = refused(opened(url), run, terms)
        assert "allkeys-lru" in reason

    def test_with_a_node_that_hangs_serves_the_others_and_answers_in_time(
        self, masters: list[Server], opened: Opened, url: str, run: Run, terms: Terms
    ) -> None:
        """R26: the client asks the other nodes who serves the run now."""
        store = opened(url)
        store.get(run.run_id, timeout=T)
        nodes = RedisCluster(port=masters[0].port, host="127.0.0.1", protocol=2)
        prefix = url.partition("prefix=")[2]
        by_port: dict[int, Run] = {}
        for number in range(60):
            each = replace(run, run_id=f"{number:064}")
            node = nodes.get_node_from_key(prefix + each.run_id)  # type: ignore[no-untyped-call]
            by_port[node.port] = each
        nodes.close()
        with masters[1].hanging():
            began = time.monotonic()
            with pytest.raises(Unclear):
                store.claim(by_port[masters[1].port], "one", terms, timeout=1.0)
            assert time.monotonic() - began < 4.5
            claimed(store, by_port[masters[0].port], "one", terms)
        claimed(store, by_port[masters[1].port], "one", terms)

    def test_that_is_not_said_to_be_one_is_refused_with_the_remedy(
        self, opened: Opened, masters: list[Server], run: Run, terms: Terms
    ) -> None:
        runs = [replace(run, run_id=f"{number:064}") for number in range(12)]
        store = opened(masters[0].url)
        reasons = set()
        for each in runs:
            try:
                store.claim(each, "one", terms, timeout=T)
            except StoreError as error:
                reasons.add(str(error))
        assert "add cluster=true" in reasons.pop()

    def test_that_is_none_is_refused_with_the_remedy(
        self, opened: Opened, start_redis: Start, run: Run, terms: Terms
    ) -> None:
        reason = refused(opened(f"{start_redis().url}?cluster=true"), run, terms)
        assert "leave cluster=true out" in reason

    def test_that_moved_is_found_again_by_its_url(
        self, opened: Opened, start_redis: Start, run: Run, terms: Terms
    ) -> None:
        """A node that all clients know is gone; the next try begins at the URL."""
        alone = start_redis("--cluster-enabled", "yes", "--save", "")
        with alone.client() as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for_cluster(alone)
        store = opened(f"{alone.url}?cluster=true")
        store.get(run.run_id, timeout=T)
        alone.stop()
        with pytest.raises(Unclear):
            store.claim(run, "one", terms, timeout=0.2)
        alone.start()
        claimed(store, run, "one", terms)

    def test_with_a_wrong_password_is_refused_at_once(
        self, opened: Opened, start_redis: Start, run: Run, terms: Terms
    ) -> None:
        server = start_redis("--cluster-enabled", "yes", "--requirepass", "right", "--save", "")
        url = f"redis://:wrong@127.0.0.1:{server.port}?cluster=true"
        reason = refused(opened(url), run, terms)
        assert "refused the account" in reason
        assert "wrong" not in reason.replace("WRONGPASS", "")
