"""Play schedules of the protocol, and tell the story of one that breaks a promise."""

import argparse
import math
import os
import sys

from proof.crowd import Crowd
from proof.exhaustive import CASES, Chosen
from proof.figures import Figures
from proof.schedule import Seed
from proof.story import told
from proof.verdict import Schedule


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a promise was broken."""
    options = _parser().parse_args(arguments)
    if options.command == "simulate" and options.runs == 1:
        return _tell(Seed(options.seed))
    if options.command == "enumerate" and options.replay:
        case, _, choices = options.replay.partition(":")
        return _tell(Chosen(int(case), options.faults, tuple(map(int, choices.split(".")))))
    crowd = Crowd(options.workers, options.minutes, _progress)
    if options.command == "simulate":
        figures = crowd.simulate(range(options.seed, options.seed + options.runs))
    else:
        figures = crowd.enumerate(Chosen(case, options.faults) for case in range(len(CASES)))
    return _report(figures)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m proof", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawn = commands.add_parser("simulate", help="schedules that are drawn from seeds")
    drawn.add_argument("--runs", type=int, default=100_000, help="how many; one is told")
    drawn.add_argument("--seed", type=int, default=1, help="the first of them")
    every = commands.add_parser("enumerate", help="all schedules of two attempts")
    every.add_argument("--faults", type=int, default=2, help="in one schedule, at most")
    every.add_argument("--replay", default="", help="tell one: CASE:CHOICE.CHOICE…")
    for command in (drawn, every):
        command.add_argument("--workers", type=int, default=os.cpu_count() or 1)
        command.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    return parser


def _report(figures: Figures) -> int:
    for line in figures.lines():
        _say(line)
    if not figures.broken:
        return 0
    schedule = figures.broken[0].schedule
    _say(f"\nA promise was broken. To see it again:\n\n    {schedule.command}\n")
    return _tell(schedule)


def _tell(schedule: Schedule) -> int:
    with told() as story:
        verdict = schedule.play(story.tell)
    _say(str(story))
    if verdict.violation is None:
        _say("\nEvery promise was kept.")
        return 0
    _say(f"\nBroken: {verdict.violation}")
    return 1


def _say(line: str) -> None:
    print(line)  # noqa: T201 that is what the command is for


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
