"""What the start of the service says about Redis, and when it refuses."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.service import WORKER_BOOT_ERROR, Request, Service, create_service
from dev.server import free_port
from tests.support.logs import own_root_logger
from tests.support.redis_server import Server
from tests.support.service import SCHEDULED, Answer, idle, kind

Start = Callable[..., Server]


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An environment in which only the store's URL is missing, and logs of the service's own."""
    monkeypatch.setenv("AUTH", "off")
    with own_root_logger():
        yield monkeypatch


def lines(captured: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.readouterr().out.splitlines()]


def started(environ: pytest.MonkeyPatch, url: str) -> Service:
    environ.setenv("RUN_STORE_URL", url)
    return create_service(kind(idle))


def test_is_refused_where_the_server_evicts_records(
    environ: pytest.MonkeyPatch, start_redis: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line names the policy, and both remedies."""
    server = start_redis("--maxmemory-policy", "volatile-lru")
    with pytest.raises(SystemExit) as stopped:
        started(environ, server.url)
    assert stopped.value.code == WORKER_BOOT_ERROR
    [line] = lines(capsys)
    assert line["severity"] == "CRITICAL"
    for words in ("volatile-lru", "noeviction", "eviction=warn"):
        assert words in line["message"]


def test_is_allowed_by_a_setting_and_warns(
    environ: pytest.MonkeyPatch, start_redis: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    server = start_redis("--maxmemory-policy", "volatile-lru")
    started(environ, f"{server.url}?eviction=warn")
    warning, info = lines(capsys)
    assert warning["severity"] == "WARNING"
    assert "volatile-lru" in warning["message"]
    assert info["severity"] == "INFO"
    assert "replicates asynchronously" in info["message"]


def test_goes_on_without_a_server_and_warns(
    environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R25: a store that is away for a while ends no instance; its runs get 500 and are retried."""
    service = started(environ, f"redis://127.0.0.1:{free_port()}")
    [line] = lines(capsys)
    assert line["severity"] == "WARNING"
    assert "does not answer" in line["message"]
    request = Request("POST", "/", {}, SCHEDULED, b"")
    assert Answer(service.handle(request)).outcome == (500, "unavailable")
