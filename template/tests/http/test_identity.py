"""How a request says which run it is for, over real HTTP/1.1 (R01-R06)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.servers.places import on_every_framework
from tests.support.servers.site import Scheduled, Site, wish
from tests.support.servers.wire import Answer, exchange, raw_request, send

JOB = b"X-CloudScheduler-JobName"
TIME = b"X-CloudScheduler-ScheduleTime"
NOON = b"2024-10-16T12:00:00Z"

Raw = list[tuple[bytes, bytes]]

pytestmark = on_every_framework


def deliver_raw(site: Site, fields: Raw) -> Answer:
    return exchange(site.server.port, raw_request([*fields, (b"Content-Length", b"0")]))


class TestOneRun:
    @pytest.mark.parametrize(
        "spell",
        [str.lower, str.upper, str.title, str.swapcase],
        ids=["lower", "upper", "title", "swapped"],
    )
    def test_is_the_same_however_its_headers_are_spelt(
        self, site: Site, run: Scheduled, spell: type[str]
    ) -> None:
        """R02."""
        first = site.deliver(run)
        fields = [(spell(name), value) for name, value in run.fields()]
        again = send(site.server.port, "POST", "/", fields)
        assert again.outcome == (200, "duplicate")
        assert again.run_id == first.run_id

    @pytest.mark.parametrize(
        "written",
        ["2024-10-16T05:00:00-07:00", "2024-10-16t12:00:00.000z", " 2024-10-16T12:00:00Z "],
    )
    def test_is_the_same_however_its_time_is_written(
        self, site: Site, run: Scheduled, written: str
    ) -> None:
        """R03. Blanks around a value are no part of it, says HTTP."""
        first = site.deliver(Scheduled(run.job_name, "2024-10-16T12:00:00Z"))
        again = site.deliver(Scheduled(run.job_name, written))
        assert again.outcome == (200, "duplicate")
        assert again.run_id == first.run_id

    def test_is_not_changed_by_what_else_comes_with_it(self, site: Site, run: Scheduled) -> None:
        """R01: neither body nor query nor other headers are part of a run."""
        first = site.deliver(run)
        again = send(
            site.server.port, "POST", "/?x=1&x=2", [*run.fields(), ("X-Other", "1")], b"{}"
        )
        assert again.outcome == (200, "duplicate")
        assert again.run_id == first.run_id

    def test_is_not_changed_by_names_with_underscores(self, site: Site, run: Scheduled) -> None:
        """R04: `X_CloudScheduler_JobName` is another header, which nobody looks at."""
        first = site.deliver(run)
        other = [(b"X_CloudScheduler_JobName", b"other"), (b"X_CloudScheduler_ScheduleTime", NOON)]
        for fields in ([*other, *run.raw_fields()], [*run.raw_fields(), *other]):
            again = deliver_raw(site, fields)
            assert again.outcome == (200, "duplicate")
            assert again.run_id == first.run_id

    def test_with_a_long_name_is_a_run(self, site: Site) -> None:
        """R04: 500 characters."""
        long = Scheduled().job_name.ljust(500, "_")
        assert site.deliver(Scheduled(long)).outcome == (200, "processed")


@pytest.mark.usefixtures("untouched")
class TestARequestIsRefused:
    @pytest.mark.parametrize(
        ("fields", "wrong"),
        [
            pytest.param([], JOB, id="without both"),
            pytest.param([(TIME, NOON)], JOB, id="without a job"),
            pytest.param([(JOB, b"a")], TIME, id="without a time"),
            pytest.param([(JOB, b""), (TIME, NOON)], JOB, id="with an empty job"),
            pytest.param([(JOB, b"a"), (TIME, b"")], TIME, id="with an empty time"),
            pytest.param([(JOB, b"a"), (JOB, b"a"), (TIME, NOON)], JOB, id="with a job twice"),
            pytest.param([(JOB, b"a"), (JOB.lower(), b"b"), (TIME, NOON)], JOB, id="with two jobs"),
            pytest.param([(JOB, b"a"), (TIME, NOON), (TIME, NOON)], TIME, id="with a time twice"),
            pytest.param([(JOB, b"a, a"), (TIME, NOON)], JOB, id="with a list of jobs"),
            pytest.param([(JOB, b"a" * 501), (TIME, NOON)], JOB, id="with a job of 501"),
            pytest.param([(JOB, b"\xff\xfe"), (TIME, NOON)], JOB, id="with bytes as job"),
            pytest.param([(JOB, "jöb".encode()), (TIME, NOON)], JOB, id="with an umlaut"),
            pytest.param([(JOB, b"a b"), (TIME, NOON)], JOB, id="with a blank"),
            pytest.param([(JOB, b"a/b"), (TIME, NOON)], JOB, id="with a slash"),
            pytest.param([(JOB, b"a"), (TIME, b"\xff")], TIME, id="with bytes as time"),
            pytest.param([(JOB, b"a"), (TIME, b"every 5 minutes")], TIME, id="with no time"),
            pytest.param(
                [(b"X_CloudScheduler_JobName", b"a"), (b"X_CloudScheduler_ScheduleTime", NOON)],
                JOB,
                id="with underscores",
            ),
        ],
    )
    def test_with_the_name_of_the_header(self, site: Site, fields: Raw, wrong: bytes) -> None:
        """R04."""
        answer = deliver_raw(site, fields)
        assert answer.outcome == (400, "rejected")
        assert wrong.decode() in answer.reason

    @pytest.mark.parametrize(
        "fields",
        [
            pytest.param([(JOB, b"a" * 8300), (TIME, NOON)], id="with a job of 8 KiB"),
            pytest.param([(JOB, b"a"), (TIME, b"2" * 8300)], id="with a time of 8 KiB"),
            pytest.param([(JOB, b"a\0b"), (TIME, NOON)], id="with a NUL"),
            pytest.param([(JOB, b"a\rb"), (TIME, NOON)], id="with a carriage return"),
            pytest.param([(JOB, b"a\r\n b"), (TIME, NOON)], id="on two lines"),
            pytest.param([(JOB + b" ", b"a"), (TIME, NOON)], id="with a blank before the colon"),
        ],
    )
    def test_by_service_or_server(self, site: Site, fields: Raw) -> None:
        """R04: a server may refuse such bytes before the service sees them."""
        assert deliver_raw(site, fields).status in (400, 431)


class TestAScope:
    """R05."""

    FIELDS = (("X-Job-Project", "my-project"), ("X-Job-Location", "us-central1"))
    QUERY = "/?project=my-project&location=us-central1"
    PATH = "/projects/my-project/locations/us-central1"

    @pytest.mark.parametrize(
        ("scope", "target"),
        [
            ("header", "/"),
            ("query", QUERY),
            ("query", "/?other=1&location=us%2Dcentral1&project=my-project"),
            ("path", PATH),
            ("path", PATH + "/"),
            ("path", "/projects/my%2Dproject/locations/us-central1?x=1"),
        ],
    )
    def test_is_read_from_its_place(
        self, site: Site, run: Scheduled, scope: str, target: str
    ) -> None:
        fields = self.FIELDS if scope == "header" else ()
        answer = site.deliver(run, settings={"job_scope": scope}, fields=fields, target=target)
        assert answer.outcome == (200, "processed")
        [start] = site.effects.starts(answer.run_id)
        assert (start.seen["project"], start.seen["location"]) == ("my-project", "us-central1")

    def test_keeps_jobs_of_one_name_apart(self, site: Site, run: Scheduled) -> None:
        """Bug row 7: two projects, two regions and no scope are four runs."""
        settings = {"job_scope": "query"}
        targets = [self.QUERY, self.QUERY.replace("my", "your"), self.QUERY.replace("1", "2")]
        answers = [site.deliver(run, settings=settings, target=target) for target in targets]
        answers.append(site.deliver(run))
        assert [answer.outcome for answer in answers] == [(200, "processed")] * 4
        assert len({answer.run_id for answer in answers}) == 4

    @pytest.mark.parametrize("project", ["example.com:my-project", "example.com%3Amy-project"])
    def test_can_be_a_project_of_a_domain(self, site: Site, run: Scheduled, project: str) -> None:
        settings = {"job_scope": "path"}
        target = f"/projects/{project}/locations/us-central1"
        answer = site.deliver(run, settings=settings, target=target)
        [start] = site.effects.starts(answer.run_id)
        assert start.seen["project"] == "example.com:my-project"

    @pytest.mark.usefixtures("untouched")
    @pytest.mark.parametrize(
        ("scope", "target", "fields"),
        [
            ("header", QUERY, ()),
            ("header", "/", FIELDS[:1]),
            ("header", "/", (*FIELDS, FIELDS[0])),
            ("header", "/", (FIELDS[0], ("X-Job-Location", "US"))),
            ("query", "/", FIELDS),
            ("query", "/?project=my-project", ()),
            ("query", QUERY + "&project=my-project", ()),
            ("query", "/?project=a%00b&location=us-central1", ()),
            ("query", "/?project=%FF&location=us-central1", ()),
            ("path", QUERY, FIELDS),
            ("path", "/projects/my-project", ()),
            ("path", "/projects//locations/us-central1", ()),
            ("path", PATH + "/jobs/a", ()),
            ("path", "/projects/a%2Fb/locations/us-central1", ()),
            ("path", "/projects/a%3Fb/locations/us-central1", ()),
            ("path", "/projects/%FF/locations/us-central1", ()),
        ],
    )
    def test_that_is_missing_or_malformed_is_refused(
        self,
        site: Site,
        run: Scheduled,
        scope: str,
        target: str,
        fields: tuple[tuple[str, str], ...],
    ) -> None:
        answer = site.deliver(run, settings={"job_scope": scope}, fields=fields, target=target)
        assert answer.outcome == (400, "rejected")


class TestAForcedRun:
    def test_leaves_the_scheduled_run_to_its_time(self, site: Site, run: Scheduled) -> None:
        """R06: a time still ahead means a forced run, which has a key of its own."""
        soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        ahead = Scheduled(run.job_name, soon)
        separate = site.deliver(ahead)
        shared = site.deliver(ahead, settings={"separate_forced_runs": False})
        assert separate.outcome == shared.outcome == (200, "processed")
        assert separate.run_id != shared.run_id
        [start] = site.effects.starts(separate.run_id)
        assert start.seen["forced"]
        [start] = site.effects.starts(shared.run_id)
        assert not start.seen["forced"]
        assert site.deliver(ahead).outcome == (200, "duplicate")


@pytest.mark.usefixtures("untouched")
def test_a_query_that_is_no_utf8_is_no_error_of_the_service(site: Site) -> None:
    """R04: bytes that no client should send, in a request that is refused anyway."""
    request = raw_request([(b"Content-Length", b"0")], target=b"/?project=\xff")
    assert exchange(site.server.port, request).status == 400
    fields = [(name.encode(), value.encode()) for name, value in wish({"job_scope": "query"})]
    request = raw_request([*fields, (b"Content-Length", b"0")], target=b"/?project=\xff")
    assert exchange(site.server.port, request).status == 400
