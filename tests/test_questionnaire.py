"""The questionnaire: what it accepts, what it refuses, and with which reason."""

import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from cronsim import CronSim

from tests import matrix
from tests.conftest import Render
from tests.rendering import ROOT

LIMITS: dict[str, list[Any]] = {
    "project_name": ["x", "x" * 60, "a 'b' \"c\""],
    "service": ["a", "a" + "-1" * 24, "a--b"],
    "gcp_project": ["abcdef", "a" * 30, "my-project-42", "example.com:proj"],
    "region": ["us-central1", "northamerica-northeast2", "me-central2"],
    "time_zone": ["UTC", "Etc/GMT+5", "America/Argentina/Buenos_Aires", "America/Port-au-Prince"],
    "attempt_deadline": [15, 1800],
    "lease": [5, 3600],
    "retention": [1, 8760],
}

REFUSALS: dict[str, list[tuple[Any, str]]] = {
    "project_name": [
        ("", "is empty"),
        ("  ", "is empty"),
        ("x" * 61, "has 61 characters. Give it 60 at most"),
        ("two\nlines", "Write it on one line"),
        ("one\n", "Write it on one line"),
        ("a\tb", "control character"),
        ("a\u2028b", "Write it on one line"),
        ("a\x85b", "Write it on one line"),
        (" x", "begins or ends with a space"),
    ],
    "service": [
        ("", "is no service name"),
        ("Nightly", "lower-case"),
        ("1st", "begin with a letter"),
        ("report-", "do not end with a hyphen"),
        ("a" * 50, "1 to 49"),
        ("report\n", "is no service name"),
    ],
    "gcp_project": [
        ("short", "6 to 30"),
        ("a" * 31, "6 to 30"),
        ("My-Project", "lower-case"),
        ("123456", "not the name or number"),
        ("project-", "not ending with a hyphen"),
        ("project:other", "is no project id"),
        ("my-project\n", "is no project id"),
    ],
    "region": [
        ("", "is no region"),
        ("us-central1-a", "not of a zone"),
        ("us-central", "us-central1"),
        ("eu", "multi-region"),
        ("US-Central1", "is no region"),
        ("us-central1\n", "is no region"),
    ],
    "time_zone": [
        ("", "tz database"),
        ("+02:00", "not an offset"),
        ("Europe/", "tz database"),
        ("../etc/passwd", "tz database"),
        ("Etc/UTC\n", "tz database"),
        ("A" * 65, "tz database"),
    ],
    "attempt_deadline": [(14, "Use 15 to 1800"), (1801, "belongs in a Cloud Run job")],
    "lease": [(4, "Use 5 to 3600"), (3601, "Use 5 to 3600")],
    "retention": [(0, "retries"), (-1, "retries"), (8761, "more than a year")],
}

DAILY = "0 4 * * *"

SCHEDULES = [
    "* * * * *",
    "*/15 * * * *",
    "0 0 1 1 0",
    "59 23 31 12 7",
    "0-30/5,45 0,12 1-7 */2 5-7",
    "0 9 * JAN-JUN/2,DEC MON-FRI",
    "0 0 29 2 *",
    "0 0 31 4,5 *",
    "0 0 30 2 MON",
]

REFUSED_SCHEDULES = [
    ("every 5 minutes", "English schedule"),
    ("every monday 09:00", "no run could be recognised"),
    ("1st monday of month 09:00", "English schedule"),
    ("", "five fields"),
    ("* * * *", "five fields"),
    ("* * * * * *", "five fields"),
    ("*  * * * *", "one space"),
    (" * * * * *", "one space"),
    ("* * * * *\n", "five fields"),
    ("\u0661 * * * *", "five fields"),
    ("60 * * * *", "minute field is wrong: 60 is outside of 0 to 59"),
    ("* 24 * * *", "hour field is wrong: 24 is outside of 0 to 23"),
    ("* * 0 * *", "day of month field is wrong: 0 is outside of 1 to 31"),
    ("* * * 13 *", "month field is wrong: 13 is outside of 1 to 12 or JAN to DEC"),
    ("* * * * 8", "day of week field is wrong: 8 is outside of 0 to 7 or SUN to SAT"),
    ("* * * * mon", "words in capitals"),
    ("* * * MON *", "month field is wrong"),
    ("*/0 * * * *", "step in \\*/0 has to be a number from 1 to 59"),
    ("*/60 * * * *", "from 1 to 59"),
    ("*/ * * * *", "step"),
    ("5/15 * * * *", "needs \\* or a range before it"),
    ("10-5 * * * *", "runs backwards"),
    ("*-5 * * * *", "minute field"),
    ("1- * * * *", "minute field"),
    ("1,,2 * * * *", "an empty member"),
    ("L * * * *", "minute field"),
    ("0 0 L * *", "day of month field"),
    ("0 0 30 2 *", "never comes round"),
    ("0 0 31 4,JUN *", "never comes round"),
    (",".join(map(str, range(30))) + " * * * *", "75 at most"),
]


def cases(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return [
        (name, *(case if isinstance(case, tuple) else (case,)))
        for name, entries in table.items()
        for case in entries
    ]


def installed_packages() -> set[str]:
    """The names of all packages that the variants install, with those that come along."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return {line.split("==")[0] for line in lines if "==" in line}


class TestDefaults:
    def test_no_answer_is_needed(self, rendered: Render) -> None:
        project = rendered()
        assert (project / ".copier-answers.yml").exists()

    def test_every_question_is_recorded_with_its_answer(self, rendered: Render) -> None:
        """An answer that is not recorded may be another one at the next update."""
        recorded = yaml.safe_load((rendered() / ".copier-answers.yml").read_text())
        asked = {name for name in matrix.questions() if matrix.is_asked(name, recorded)}
        assert asked <= set(recorded)

    def test_an_unknown_store_is_refused(self, rendered: Render) -> None:
        with pytest.raises(ValueError, match="store"):
            rendered(store="clay-tablets")

    def test_nothing_needs_trust(self) -> None:
        unsafe = {"_tasks", "_migrations", "_jinja_extensions", "_external_data"}
        assert unsafe.isdisjoint(matrix.questionnaire())

    def test_an_undefined_name_is_an_error_and_not_a_blank(self) -> None:
        assert matrix.questionnaire()["_envops"]["undefined"] == "jinja2.StrictUndefined"


class TestAnswers:
    @pytest.mark.parametrize(("question", "answer"), cases(LIMITS))
    def test_the_limits_are_accepted(self, rendered: Render, question: str, answer: Any) -> None:
        """The times have to fit between two runs, so they are tried with a day."""
        project = rendered(**{"schedule": DAILY, question: answer})
        recorded = yaml.safe_load((project / ".copier-answers.yml").read_text())
        assert recorded[question] == answer

    @pytest.mark.parametrize(("question", "answer", "reason"), cases(REFUSALS))
    def test_what_is_beyond_them_is_refused_with_the_reason(
        self, rendered: Render, question: str, answer: Any, reason: str
    ) -> None:
        with pytest.raises(ValueError, match=f"'{question}': .*{reason}"):
            rendered(**{question: answer})

    def test_every_free_answer_has_a_limit_and_a_refusal(self) -> None:
        free = set(matrix.questions()) - set(matrix.choice_questions()) - {"schedule"}
        assert free == set(LIMITS) == set(REFUSALS)

    def test_retention_outlasts_the_retries(self, rendered: Render) -> None:
        """R29: six attempts of half an hour and five back-offs are longer than three hours."""
        with pytest.raises(ValueError, match=r"'retention': .*Use 4 to 8760"):
            rendered(schedule=DAILY, attempt_deadline=1800, retention=3)
        assert rendered(schedule=DAILY, attempt_deadline=1800, retention=4).exists()

    def test_an_app_engine_target_may_take_a_day(self, rendered: Render) -> None:
        """R32, R29: and its records outlast seven such days, without being asked to."""
        answers = {"platform": "app-engine", "schedule": "0 4 1 * *"}
        project = rendered(**answers, attempt_deadline=86_415)
        recorded = yaml.safe_load((project / ".copier-answers.yml").read_text())
        assert recorded["retention"] * 3600 > 7 * 86_415
        with pytest.raises(ValueError, match=r"an App Engine target. Use 15 to 86415"):
            rendered(**answers, attempt_deadline=86_416)

    def test_an_http_target_on_app_engine_may_not(self, rendered: Render) -> None:
        """R32, R33: `auth: verify` makes it one."""
        with pytest.raises(ValueError, match=r"an HTTP target. Use 15 to 1800"):
            rendered(platform="app-engine", auth="verify", schedule=DAILY, attempt_deadline=1801)


class TestSchedule:
    @pytest.mark.parametrize("schedule", SCHEDULES)
    def test_unix_cron_is_accepted(self, rendered: Render, schedule: str) -> None:
        """R30; and the library that computes the expected runs reads it too."""
        assert schedule in (rendered(schedule=schedule) / "app" / "defaults.py").read_text()
        assert next(CronSim(schedule, datetime(2026, 1, 1, tzinfo=UTC)))

    @pytest.mark.parametrize(("schedule", "reason"), REFUSED_SCHEDULES)
    def test_everything_else_is_refused_with_the_reason(
        self, rendered: Render, schedule: str, reason: str
    ) -> None:
        """R30."""
        with pytest.raises(ValueError, match=f"'schedule': .*{reason}"):
            rendered(schedule=schedule)


class TestService:
    @pytest.mark.parametrize(
        ("project_name", "service"),
        [
            ("Nightly report", "nightly-report"),
            ("  ".join("ab"), "a-b"),
            ("2nd try!", "nd-try"),
            ("--x--", "x"),
            ("x" * 48 + " y", "x" * 48),
            ("caf\u00e9", "caf"),
            ("\u65e5\u5831", "scheduled-job"),
            ("42", "scheduled-job"),
        ],
    )
    def test_the_default_is_made_from_the_project_name(
        self, rendered: Render, project_name: str, service: str
    ) -> None:
        answers = rendered(project_name=project_name) / ".copier-answers.yml"
        assert yaml.safe_load(answers.read_text())["service"] == service

    @pytest.mark.parametrize("service", ["flask", "rich", "urllib3"])
    def test_a_service_named_like_a_library_is_no_dependency_of_itself(
        self, rendered: Render, service: str
    ) -> None:
        project = tomllib.loads((rendered(service=service) / "pyproject.toml").read_text())
        assert project["project"]["name"] not in installed_packages()


class TestChoices:
    @pytest.mark.parametrize("answers", matrix.impossible_pairs(), ids=matrix.name_of)
    def test_an_impossible_pair_cannot_be_chosen(
        self, rendered: Render, answers: matrix.Answers
    ) -> None:
        with pytest.raises(ValueError, match="Invalid choice for"):
            rendered(**answers)

    def test_functions_are_started_by_their_framework_alone(self, rendered: Render) -> None:
        with pytest.raises(ValueError, match="Choose functions-framework here"):
            rendered(platform="cloud-run-functions", framework="flask")

    def test_app_engine_needs_no_other_answer(self, rendered: Render) -> None:
        """R33: what it cannot have is not its default either."""
        recorded = yaml.safe_load(
            (rendered(platform="app-engine") / ".copier-answers.yml").read_text()
        )
        assert (recorded["framework"], recorded["auth"]) == ("flask", "app-engine")

    @pytest.mark.parametrize(
        ("answers", "reason"),
        [
            ({"platform": "app-engine", "framework": "functions-framework"}, "flask or fastapi"),
            ({"platform": "app-engine", "auth": "iam"}, "no check by IAM"),
            ({"platform": "cloud-run-functions", "auth": "app-engine"}, "Only App Engine"),
            ({"platform": "app-engine", "kind": "step"}, "a step is asked by others"),
        ],
    )
    def test_app_engine_has_its_own(
        self, rendered: Render, answers: dict[str, str], reason: str
    ) -> None:
        """R33."""
        with pytest.raises(ValueError, match=reason):
            rendered(**answers)
