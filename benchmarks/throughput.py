"""How many runs one instance takes per second, one after the other and many at once."""

import http.client
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from benchmarks.parts import MissingPartError, Parts
from benchmarks.results import Column, Result, Row, Table, ratio
from benchmarks.servers import BARE, Projects, Server, store_url
from benchmarks.timing import Sample, in_turns

CONCURRENCY: Final = (1, 8, 64)
SECONDS, QUICK_SECONDS = 1.0, 0.2
QUICK_FRAMEWORKS: Final = ("flask",)
ROUNDS, QUICK_ROUNDS = 3, 1
STORES: Final = ("sqlite", "redis")
NOTHING: Final = "nothing"

COLUMNS = (
    Column("framework", "framework"),
    Column("store", "store"),
    Column("concurrent", "at once", "count"),
    Column("rate", "runs", "per second"),
    Column("p50", "p50", "ms"),
    Column("p99", "p99", "ms"),
    Column("errors", "errors", "count"),
    Column("ratio", "rate of the bare framework's", "times"),
)

_serial = itertools.count(1)


@dataclass(frozen=True)
class _Load:
    """How a number of requests went. `wall` is the seconds from the first to the last."""

    wall: float
    seconds: tuple[float, ...]
    errors: int


def measure(parts: Parts, *, quick: bool) -> Result:
    """Deliver runs to each framework's server on each store, and to one that does nothing."""
    omitted: list[str] = []
    rows: list[Row] = []
    projects = Projects(parts)
    for framework in QUICK_FRAMEWORKS if quick else BARE:
        with ExitStack() as stack:
            bare = stack.enter_context(Server(projects.bare(framework), {}))
            servers = {NOTHING: bare}
            for store in STORES:
                try:
                    url = store_url(parts, store)
                except MissingPartError as error:
                    omitted.append(str(error))
                    continue
                project = projects.rendered(framework, "redis")
                servers[store] = stack.enter_context(Server(project, {"RUN_STORE_URL": url}))
            for concurrent in CONCURRENCY:
                rows += _compared(framework, servers, concurrent, quick=quick)
    return Result(
        name="throughput",
        question="How many runs does one instance take?",
        method=(
            "A rendered project, started as the platform starts it, with the job that the template"
            " brings; each request is a new run, on a connection that is kept. The store `nothing`"
            " is the same framework and server with a handler that answers at once: the rest is"
            " what claim, lease, log lines and finish cost. The servers of a framework take turns."
            " The client, a Python process with a thread for each request at once, and the store"
            " share the machine with the server."
        ),
        tables=[Table("Runs on one instance", COLUMNS, rows)],
        omitted=sorted(set(omitted)),
    )


def _compared(
    framework: str, servers: dict[str, Server], concurrent: int, *, quick: bool
) -> list[Row]:
    seconds, rounds = (QUICK_SECONDS, QUICK_ROUNDS) if quick else (SECONDS, ROUNDS)
    for server in servers.values():
        _load(server.port, concurrent, 0.0)
    found = in_turns(servers, rounds, lambda name: _load(servers[name].port, concurrent, seconds))
    rows: list[Row] = []
    idle: float | None = None
    for store, loads in found.items():
        sample = Sample(tuple(second for load in loads for second in load.seconds))
        rate = len(sample.seconds) / sum(load.wall for load in loads)
        idle = rate if store == NOTHING else idle
        rows.append(
            {
                "framework": framework,
                "store": store,
                "concurrent": concurrent,
                "rate": rate,
                "p50": sample.p50,
                "p99": sample.p99,
                "errors": sum(load.errors for load in loads),
                "ratio": None if store == NOTHING else ratio(rate, idle),
            }
        )
    return rows


def _load(port: int, concurrent: int, seconds: float) -> _Load:
    """Keep so many requests in the air for that long; each thread sends one at least."""
    began = time.perf_counter()
    until = began + seconds
    with ThreadPoolExecutor(concurrent) as threads:
        answers = list(threads.map(lambda _: _deliver(port, until), range(concurrent)))
    wall = time.perf_counter() - began
    times = tuple(itertools.chain.from_iterable(times for times, _ in answers))
    return _Load(wall, times, sum(errors for _, errors in answers))


def _deliver(port: int, until: float) -> tuple[list[float], int]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    seconds: list[float] = []
    errors = 0
    while not seconds or time.perf_counter() < until:
        fields = {
            "X-CloudScheduler-JobName": f"job-{next(_serial)}",
            "X-CloudScheduler-ScheduleTime": "2026-01-01T12:00:00Z",
        }
        began = time.perf_counter()
        try:
            connection.request("POST", "/", b"", fields)
            answer = connection.getresponse()
            errors += answer.status != 200 or b'"processed"' not in answer.read()
        except (OSError, http.client.HTTPException):
            errors += 1
            connection.close()
        seconds.append(time.perf_counter() - began)
    connection.close()
    return seconds, errors
