"""The simulator tells right runs from wrong ones, by events and by answers."""

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from dev.delivery import Answer, NoAnswer
from dev.events import Event, EventLog, parse_event
from dev.plan import PlannedRun
from dev.report import print_verdicts
from dev.simulation import RunResult
from dev.timeline import Timeline
from dev.verdict import Verdict, events_of_run, judge_answers, judge_events

TIME = datetime(2026, 10, 16, 12, 0, tzinfo=UTC)


def event(name: str, run_id: str = "r", attempt_id: str = "a", **fields: bool) -> Event:
    return Event(name, 0.0, run_id, attempt_id, "nightly-report", TIME, **fields)


class TestVerdictByEvents:
    def test_one_start_and_one_completion_is_right(self) -> None:
        assert judge_events([event("claimed"), event("completed")]).right

    def test_done_twice_is_wrong(self) -> None:
        done = [event("claimed"), event("completed")]

        assert judge_events([*done, *done]).problem == "done 2 times"

    def test_never_done_is_wrong(self) -> None:
        assert judge_events([]).problem == "never done"
        assert judge_events([event("claimed")]).problem == "never done"

    def test_a_completion_that_nobody_lived_to_tell_is_right(self) -> None:
        """Its record says so, and the job had returned."""
        names = ["claimed", "returned", "duplicate"]

        assert judge_events([event(name) for name in names]).right
        assert judge_events([event("claimed"), event("duplicate")]).problem == "never done"

    def test_given_up_is_wrong(self) -> None:
        assert judge_events([event("claimed"), event("gave_up")]).problem == "given up"

    def test_a_start_after_a_release_is_right(self) -> None:
        """R21."""
        names = ["claimed", "failed", "released", "claimed", "completed"]

        assert judge_events([event(name) for name in names]).right

    def test_a_start_that_takes_over_is_right(self) -> None:
        """R13, R28."""
        verdict = judge_events(
            [event("claimed"), event("claimed", recovered=True), event("completed")]
        )

        assert (verdict.right, verdict.attempts, verdict.recovered) == (True, 2, 1)

    def test_a_start_beside_a_live_attempt_is_wrong(self) -> None:
        verdict = judge_events([event("claimed"), event("claimed"), event("completed")])

        assert verdict.problem == "started while at work"

    def test_what_is_started_elsewhere_is_counted_there(self) -> None:
        """R36: two attempts at one start are right, one attempt that starts twice is not."""
        done = [event("claimed"), event("claimed", recovered=True), event("completed")]
        right, wrong = judge_events(done, 1), judge_events([*done[:1], *done[2:]], 2)

        assert (right.right, right.attempts, right.starts) == (True, 2, 1)
        assert (wrong.problem, wrong.attempts, wrong.starts) == ("started 2 times elsewhere", 1, 2)

    def test_a_run_under_two_keys_is_seen(self) -> None:
        """R03."""
        events = [event(name, run_id) for run_id in ("r", "s") for name in ("claimed", "completed")]
        of_run = events_of_run(events, "nightly-report", TIME, forced=False)

        assert judge_events(of_run).problem == "done 2 times"

    def test_a_forced_run_is_told_from_the_scheduled_one(self) -> None:
        """R06."""
        events = [
            event("claimed", "f", forced=True),
            event("completed", "f"),
            event("claimed", "r", forced=False),
            event("completed", "r"),
        ]

        for forced in (True, False):
            of_run = events_of_run(events, "nightly-report", TIME, forced=forced)
            assert judge_events(of_run).right


class TestTable:
    @pytest.mark.parametrize("starts", [None, 1])
    def test_counts_attempts_and_what_is_started_elsewhere(self, starts: int | None) -> None:
        run = RunResult(PlannedRun("its answer gets lost", TIME), (), ())
        output = StringIO()
        print_verdicts(Console(file=output, width=100), [(run, Verdict(2, 1, 1, "", starts))])

        assert "attempts" in output.getvalue()
        assert ("starts" in output.getvalue()) == (starts is not None)


class TestTimeline:
    def test_tells_a_takeover_whatever_became_of_the_earlier_attempt(self) -> None:
        """R13: it may be dead, or its claim released."""
        output = StringIO()
        Timeline(Console(file=output, width=100)).event(event("claimed", recovered=True))

        assert "takes over from an earlier attempt" in output.getvalue()


class TestVerdictByAnswers:
    def test_one_processed_among_duplicates_is_right(self) -> None:
        answers = [Answer(409, "in_progress"), Answer(200, "processed"), Answer(200, "duplicate")]

        assert judge_answers(answers).right

    def test_two_processed_are_wrong(self) -> None:
        assert judge_answers([Answer(200, "processed")] * 2).problem == "done 2 times"

    def test_only_failures_are_wrong(self) -> None:
        assert judge_answers([Answer(500, "failed")]).problem == "never done"

    def test_a_duplicate_explains_an_attempt_without_an_answer(self) -> None:
        assert judge_answers([NoAnswer("deadline exceeded"), Answer(200, "duplicate")]).right
        assert not judge_answers([Answer(200, "duplicate")]).right


class TestEvents:
    def test_are_read_from_json_lines_alone(self) -> None:
        log = EventLog()
        line = {"event": "claimed", "run_id": "r", "schedule_time": "2026-10-16T05:00:00-07:00"}
        log.read(["Listening on 8080\n", '{"message": "ready"}\n', "[1]\n", json.dumps(line)])

        assert [(each.name, each.schedule_time) for each in log.events] == [("claimed", TIME)]
        assert len(log.other_lines) == 3

    def test_with_odd_fields_do_no_harm(self) -> None:
        line = {"event": "claimed", "run_id": None, "schedule_time": 7, "forced": "yes"}
        read = parse_event(json.dumps(line), 0.0)

        assert read == Event("claimed", 0.0)

    def test_are_waited_for_from_a_mark_on(self) -> None:
        log = EventLog()
        log.read(['{"event": "claimed"}'])

        assert log.wait_for(lambda event: event.name == "claimed", 0, 0)
        assert not log.wait_for(lambda event: event.name == "claimed", log.mark(), 0)
