"""The tokens that the service expects are those for its own URL, of the accounts that may call."""

from tests.support.infra import blocks


def test_the_service_is_told_audience_and_accounts() -> None:
    """R33."""
    assert blocks("token.tf", "locals")["auth_environment"] == {
        "AUTH_AUDIENCE": "${local.url}",
        "AUTH_SERVICE_ACCOUNT": '${join(",", values(local.callers))}',
    }
