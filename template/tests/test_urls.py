"""URLs are taken apart without an error that quotes them, and shown without an account (R39)."""

import pytest

from app.urls import host_of, is_host, options, split, without_account


@pytest.mark.parametrize(
    "url",
    ["x://[hidden", "x://hidden\uff0f@h", "x://h\nidden", "x://\udcffhidden"],
)
def test_url_that_is_none_is_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match="it is no URL") as refused:
        split(url)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


@pytest.mark.parametrize(
    "url", ["x:", "x://", "x://h:hidden", "x://h:0", "x://h:70000", "x://a..b"]
)
def test_server_that_is_none_is_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match="it names no server"):
        host_of(split(url))


def test_place_with_a_colon_needs_no_port() -> None:
    """Some projects have the name of a domain before theirs."""
    assert split("x://example.com:project/name").netloc == "example.com:project"
    assert host_of(split("x://h:1")) == ("h", 1)
    assert host_of(split("x://[::1]")) == ("::1", None)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("x://user:hidden@h:1/2?a=b", "x://***@h:1/2?a=b"),  # pragma: allowlist secret
        ("x://:hid@hidden@h", "x://***@h"),
        ("x://h/a@b?c=d@e", "x://h/a@b?c=d@e"),
        ("x:///path", "x:///path"),
    ],
)
def test_account_is_not_shown(url: str, shown: str) -> None:
    assert without_account(url) == shown


@pytest.mark.parametrize(
    ("host", "good"),
    [
        *[(each, True) for each in ("h", "a.b.", "10.0.0.3", "::1", "a_b-c", "x" * 63)],
        *[(each, False) for each in ("", ".", "a..b", "-a", "a-", "x" * 64, "h%ff", "1::g", "a:b")],
        ("x." * 126 + "x", True),
        ("x." * 127 + "x", False),
    ],
)
def test_host_is_one_that_can_be_looked_up(host: str, good: bool) -> None:
    assert is_host(host) is good


class TestOptions:
    def test_are_read_by_their_names(self) -> None:
        assert options("a=1&b=", ("a", "b")) == {"a": "1", "b": ""}

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("c=1", "no option c here; there are a, b"),
            ("a=1&a=1", "a is there twice"),
            ("hidden&x@h", "no option of that name here; there are a, b"),
            ("hid-den=1", "no option of that name"),
        ],
    )
    def test_that_are_wrong_are_refused(self, query: str, message: str) -> None:
        with pytest.raises(ValueError, match=message) as refused:
            options(query, ("a", "b"))
        assert "hid" not in str(refused.value)
