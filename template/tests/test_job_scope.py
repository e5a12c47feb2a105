"""Jobs with one id in several projects or regions are told apart (R05)."""

import pytest

from app.dedup.delivery import (
    BadDelivery,
    Delivery,
    Headers,
    JobScope,
    Trigger,
    is_run_path,
    read_delivery,
)

IDENTITY: Headers = {
    "x-cloudscheduler-jobname": ("nightly",),
    "x-cloudscheduler-scheduletime": ("2026-10-16T12:00:00Z",),
}
CHOSEN = [JobScope.HEADER, JobScope.QUERY, JobScope.PATH]
CARRIED_AS_VALUES = [JobScope.HEADER, JobScope.QUERY]

Values = tuple[str, ...]


def read(scope: JobScope, project: Values = ("p",), location: Values = ("l",)) -> Delivery:
    """Read a request that carries the values where `scope` wants them, as often as given."""
    headers, query, path = dict(IDENTITY), {}, "/"
    match scope:
        case JobScope.NONE:
            pass
        case JobScope.HEADER:
            headers |= {"x-job-project": project, "x-job-location": location}
        case JobScope.QUERY:
            query = {"project": project, "location": location}
        case JobScope.PATH:
            path = f"/projects/{project[0]}/locations/{location[0]}"
    return read_delivery(headers, path, query, scope)


def refusal(scope: JobScope, project: Values = ("p",), location: Values = ("l",)) -> str:
    with pytest.raises(BadDelivery) as refused:
        read(scope, project, location)
    return str(refused.value)


@pytest.mark.parametrize("scope", CHOSEN)
class TestScope:
    @pytest.mark.parametrize("project", ["p", "my-project", "example.com:my-project", "P" * 100])
    @pytest.mark.parametrize("location", ["l", "us-central1", "l" * 63])
    def test_is_read_from_the_chosen_place(
        self, scope: JobScope, project: str, location: str
    ) -> None:
        """R05."""
        found = read(scope, (project,), (location,))
        assert (found.project, found.location) == (project, location)

    @pytest.mark.parametrize(
        "project", ["", "a b", "a_b", "a\n", "a,b", "\u00e4", "\u0661", "p" * 101]
    )
    def test_with_a_malformed_project_is_refused(self, scope: JobScope, project: str) -> None:
        """R05."""
        assert "project" in refusal(scope, project=(project,)).lower()

    @pytest.mark.parametrize(
        "location", ["", "US", "a.b", "a_b", "a\n", "a,b", "\u00e4", "\u0661", "l" * 64]
    )
    def test_with_a_malformed_location_is_refused(self, scope: JobScope, location: str) -> None:
        """R05."""
        assert "location" in refusal(scope, location=(location,)).lower()

    def test_makes_one_job_id_in_two_places_two_jobs(self, scope: JobScope) -> None:
        """R05: regions of one project, and projects."""
        places = [(("p",), ("l",)), (("p",), ("m",)), (("q",), ("l",))]
        runs = {read(scope, *place).run_id("s", Trigger.SCHEDULED) for place in places}
        assert len(runs) == len(places)

    def test_that_is_missing_is_refused(self, scope: JobScope) -> None:
        """R05: never taken for a job without a scope."""
        with pytest.raises(BadDelivery, match="expects"):
            read_delivery(IDENTITY, "/", {}, scope)


@pytest.mark.parametrize("scope", CARRIED_AS_VALUES)
class TestScopeInHeadersOrQuery:
    @pytest.mark.parametrize("sent", [(), ("p", "p"), ("p", "q")])
    def test_needs_exactly_one_project(self, scope: JobScope, sent: Values) -> None:
        """R05: of two values, none can be trusted to be the job's."""
        assert "project" in refusal(scope, project=sent).lower()

    @pytest.mark.parametrize("sent", [(), ("l", "l"), ("l", "m")])
    def test_needs_exactly_one_location(self, scope: JobScope, sent: Values) -> None:
        """R05."""
        assert "location" in refusal(scope, location=sent).lower()


class TestScopeInThePath:
    def test_may_end_with_a_slash(self) -> None:
        """R05: both are the same run."""
        path = "/projects/p/locations/l"
        with_slash = read_delivery(IDENTITY, f"{path}/", {}, JobScope.PATH)
        assert with_slash == read_delivery(IDENTITY, path, {}, JobScope.PATH)

    @pytest.mark.parametrize(
        "path",
        [
            "/projects",
            "/projects/p",
            "/projects/p/locations",
            "/projects//locations/l",
            "/projects/p/locations/",
            "/projects/p/locations/l/jobs/nightly",
            "/projects/p/regions/l",
            "/projects/p/locations/l//",
        ],
    )
    def test_that_is_cut_off_or_has_more_is_refused(self, path: str) -> None:
        """R05: the message shows the path."""
        with pytest.raises(BadDelivery, match="path"):
            read_delivery(IDENTITY, path, {}, JobScope.PATH)


class TestWithoutAScope:
    def test_what_a_request_carries_anyway_is_ignored(self) -> None:
        """R05: else one extra header would make a second run."""
        headers = {**IDENTITY, "x-job-project": ("p",), "x-job-location": ("l",)}
        query = {"project": ("p",), "location": ("l",)}
        assert read_delivery(headers, "/", query, JobScope.NONE) == read(JobScope.NONE)

    def test_project_and_location_are_empty(self) -> None:
        """R05, R08."""
        found = read(JobScope.NONE)
        assert (found.project, found.location) == ("", "")


class TestRunPath:
    @pytest.mark.parametrize("scope", list(JobScope))
    @pytest.mark.parametrize("path", ["", "/"])
    def test_is_the_root(self, path: str, scope: JobScope) -> None:
        """R05: a job that sends no scope is told so there."""
        assert is_run_path(path, scope)

    @pytest.mark.parametrize("path", ["/projects/p/locations/l", "/projects/p", "/projects"])
    def test_is_what_looks_like_a_scope_where_the_path_is_the_scope(self, path: str) -> None:
        """R05: a malformed one is a 400 with its reason, not a 404."""
        assert is_run_path(path, JobScope.PATH)
        assert not is_run_path(path, JobScope.NONE)

    @pytest.mark.parametrize("scope", list(JobScope))
    @pytest.mark.parametrize("path", ["//", "/run", "/projectsx", "/health", "/x/projects/p"])
    def test_is_nothing_else(self, path: str, scope: JobScope) -> None:
        """R05."""
        assert not is_run_path(path, scope)
