"""`python -m dev.scheduler`: a local Cloud Scheduler that makes trouble and keeps count."""

import os
import socket
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from app.schedule import coming_times, past_times
from dev.attempt import Attempts
from dev.delivery import Target
from dev.events import EventLog
from dev.kinds import Surroundings, surroundings
from dev.options import Options, parse
from dev.plan import PlannedRun, scenario_runs, schedule_runs, with_forced_run
from dev.report import print_verdicts, save_svg
from dev.server import LocalServer, ServerError
from dev.simulation import RunResult, Simulation
from dev.timeline import Timeline
from dev.verdict import Verdict, events_of_run, judge_answers, judge_events

FORCED_LEAD = timedelta(seconds=14)
"""How far ahead a forced run's schedule time is: more than the 10 s from which it counts as one."""

MOST_TRIES = 4
"""How often a run is played until its faults have struck."""

WIDTH = 100
"""Columns of the output, in a picture and where there is no terminal."""


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate as the command line says; return the exit status: 0 right, 1 wrong, 2 no start."""
    options = parse(sys.argv[1:] if argv is None else argv, os.environ, datetime.now(UTC))
    fixed = options.svg is not None or not sys.stdout.isatty()
    console = Console(
        record=options.svg is not None, highlight=False, width=WIDTH if fixed else None
    )
    try:
        judged = _simulate(options, console)
    except (ServerError, ConnectionError) as error:
        console.print(f"✗ {error}", style="bold red", markup=False)
        return 2
    except KeyboardInterrupt:
        return 130
    print_verdicts(console, judged)
    if options.svg is not None:
        save_svg(console, options.svg, "make simulate")
    return 0 if all(verdict.right for _, verdict in judged) else 1


def planned_runs(options: Options, now: datetime) -> list[PlannedRun]:
    """Return the runs to play. Their schedule times are past ones, except in real time."""
    lead = (now + FORCED_LEAD).replace(microsecond=0)
    if not options.real_time:
        if options.scenarios:
            times = past_times(options.schedule, options.zone, now, len(options.scenarios))
            return scenario_runs(options.scenarios, iter(times), lead)
        times = past_times(options.schedule, options.zone, now, options.runs)
        runs = schedule_runs(times, options.copies, options.faults, real_time=False)
        return with_forced_run(runs, lead) if options.forced else runs
    coming = coming_times(options.schedule, options.zone, lead if options.forced else now)
    times = list(islice(coming, options.runs))
    runs = schedule_runs(times, options.copies, options.faults, real_time=True)
    return with_forced_run(runs, times[0]) if options.forced else runs


Judged = list[tuple[RunResult, Verdict]]


def _simulate(options: Options, console: Console) -> Judged:
    if options.target.url:
        return _simulate_running(options, console)
    return _simulate_here(options, console)


def _simulate_here(options: Options, console: Console) -> Judged:
    """Start a server with a store of its own, play against it, and judge by its log."""
    timeline = Timeline(console)
    log = EventLog(timeline.event)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="simulation-"))
        around = stack.enter_context(surroundings())
        settings = {**_server_settings(options), **around.environ}
        server = LocalServer(Path(folder) / "runs.db", log, settings)
        target = replace(options.target, url=server.url)
        _print_head(console, options, target, f"lease {options.lease} s")
        stack.callback(server.stop)
        server.start()
        results = _play(options, Attempts(target, timeline, server), around, timeline)
    # Only now the log is complete: a second completion may come after the last answer.
    return [(result, _judge_by_log(result, log, options, around)) for result in results]


def _simulate_running(options: Options, console: Console) -> Judged:
    """Play against a server that runs elsewhere, and judge by its answers."""
    # A fresh job id, because the server's store may know the past runs of the real one.
    target = replace(options.target, job=f"{options.target.job[:480]}-sim-{uuid.uuid4().hex[:8]}")
    _check_reachable(target.url)
    timeline = Timeline(console)
    _print_head(console, options, target, "already running")
    results = _play(options, Attempts(target, timeline, None), Surroundings(), timeline)
    return [(result, _judge_by_answers(result, results, options)) for result in results]


def _play(
    options: Options, attempts: Attempts, around: Surroundings, timeline: Timeline
) -> list[RunResult]:
    simulation = Simulation(attempts, around, options.retry, timeline)
    results: list[RunResult] = []
    for planned in planned_runs(options, datetime.now(UTC)):
        for run in _tries(planned):
            results.append(simulation.play(len(results) + 1, run))
            if not results[-1].missed:
                break
    return results


def _tries(planned: PlannedRun) -> Iterator[PlannedRun]:
    """Yield the run, then others in its place: a quick job may be done before its fault strikes.

    Their times are no other run's, because those of a schedule are whole minutes.
    """
    for tries in range(MOST_TRIES):
        yield replace(planned, schedule_time=planned.schedule_time - timedelta(seconds=tries))


def _server_settings(options: Options) -> dict[str, str]:
    return {
        "FORCED_RUNS": "separate" if options.forced_separate else "shared",
        "JOB_SCOPE": options.target.job_scope,
        "LEASE_SECONDS": str(options.lease),
    }


def _key(run: PlannedRun, options: Options) -> tuple[datetime, bool]:
    """Tell runs apart as the server does; shared, a forced run is its scheduled run."""
    return run.schedule_time, run.forced and options.forced_separate


def _judge_by_log(
    result: RunResult, log: EventLog, options: Options, around: Surroundings
) -> Verdict:
    schedule_time, forced = _key(result.planned, options)
    events = events_of_run(log.events, options.target.job, schedule_time, forced=forced)
    if around.executions is None:
        return judge_events(events)
    executions = map(around.executions, {event.run_id for event in events})
    return judge_events(events, sum(executions))


def _judge_by_answers(result: RunResult, results: list[RunResult], options: Options) -> Verdict:
    key = _key(result.planned, options)
    same = (other for other in results if _key(other.planned, options) == key)
    return judge_answers([reply for other in same for reply in other.replies])


def _check_reachable(url: str) -> None:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=5.0).close()
    except OSError as error:
        raise ConnectionError(f"nothing listens at {url}: {error}") from error


def _print_head(console: Console, options: Options, target: Target, server: str) -> None:
    retry = options.retry
    schedule = f"{options.schedule} in {options.zone.key}"
    runs = f"a key in {target.key_header} for each run" if target.key_header else schedule
    console.print("[bold]Cloud Scheduler, simulated[/bold]")
    for name, value in (
        ("job", f"{target.job}, {runs}"),
        ("target", f"{target.url}, {server}"),
        ("retries", f"{retry.retry_count}, back-off from {retry.min_backoff:g} s"),
    ):
        console.print(f"  [dim]{name:<8}[/dim] {value}")


if __name__ == "__main__":
    sys.exit(main())
