"""A wrong `TARGET` or `TARGET_ENDPOINT` stops the start, with one message."""

import pytest

from app.environment import BadEnvironment, Reader
from app.kinds import open_kind
from app.targets import open_target, target_forms
from dev import targets
from tests.targets.proxied import Proxied


def errors(**environ: str) -> list[str]:
    with pytest.raises(BadEnvironment) as stopped:
        open_kind("proxy", Reader(environ))
    return str(stopped.value).split("\n- ")[1:]


def test_the_target_has_to_be_set() -> None:
    [error] = errors()
    assert error.startswith("TARGET: is not set")
    assert all(form in error for form in target_forms())


@pytest.mark.parametrize("value", ["nightly", "projects/p/locations/l/things/t", "ftp://host/"])
def test_another_form_is_refused_with_the_right_one(value: str) -> None:
    [error] = errors(TARGET=value)
    assert error.startswith(f"TARGET: {value!r}: this project starts ")
    assert all(form in error for form in target_forms())
    assert "copier update -d target=NAME" in error


def test_a_line_break_at_the_end_is_refused(proxied: Proxied) -> None:
    with pytest.raises(ValueError, match="this project starts"):
        open_target(proxied.stand_in.api.target + "\n")


@pytest.mark.parametrize(
    "value",
    [
        "http://api.example.com",
        "127.0.0.1:80",
        "https://",
        "https://host/path",
        "x",
        "http://[",
        "https://[x]/",
        "https://host:99999",
        "https://host:abc",
        "https://ho st",
        "https://host/?",
        "https://:word@host",
        "https://host\n",
        "http://127.999.0.1",
    ],
)
def test_an_endpoint_is_scheme_and_host(proxied: Proxied, value: str) -> None:
    [error] = errors(TARGET=proxied.stand_in.api.target, TARGET_ENDPOINT=value)
    assert error.startswith("TARGET_ENDPOINT: expected scheme and host")


@pytest.mark.skipif("http" not in targets.names(), reason="not the target of this project")
@pytest.mark.parametrize(
    "value",
    [
        "https://host:99999/x",
        "https://host:abc/x",
        "https://a..b/x",
        "https://:443/x",
        "https://../x",
        "https://[x/",
        "https://host\\x",
        "https://host/\x7f",
        "http://127.0.0.1:0/",
        "http://127.999.0.1/",
    ],
)
def test_a_url_that_can_be_called_by_nobody_is_refused(value: str) -> None:
    [error] = errors(TARGET=value)
    assert error.startswith("TARGET: ")


def test_all_errors_come_in_one_message() -> None:
    assert len(errors(FORCED_RUNS="maybe", TARGET_ENDPOINT="x")) == 3
