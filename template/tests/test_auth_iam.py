"""`AUTH=iam`: the claims that Cloud Run has verified are compared (R33, R07)."""

import base64
import json
import logging
from collections.abc import Mapping

import pytest

from app.auth import Authenticator, Forbidden, Unauthenticated, open_authenticator
from app.dedup.delivery import Headers

AUDIENCE = "https://nightly-report-abc123-uc.a.run.app"
ACCOUNT = "nightly-report-job@my-project.iam.gserviceaccount.com"
OTHER = "somebody-else@my-project.iam.gserviceaccount.com"
REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"
MISSING = object()


def encoded(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims(**changes: object) -> dict[str, object]:
    """The claims of a token that Scheduler sends, with changes; `MISSING` takes one away."""
    sent: dict[str, object] = {
        "iss": "https://accounts.google.com",
        "aud": AUDIENCE,
        "azp": "108100000000000000001",
        "sub": "108100000000000000001",
        "email": ACCOUNT,
        "email_verified": True,
        "iat": 1_790_000_000,
        "exp": 1_790_003_600,
    }
    return {name: value for name, value in (sent | changes).items() if value is not MISSING}


def token(payload: object = None, signature: str = REMOVED) -> str:
    header = {"alg": "RS256", "kid": "1", "typ": "JWT"}
    return f"{encoded(header)}.{encoded(claims() if payload is None else payload)}.{signature}"


def bearing(text: str) -> Headers:
    return {"authorization": (f"Bearer {text}",)}


def iam(audience: str = AUDIENCE) -> Authenticator:
    return open_authenticator("iam", audience=audience, service_account=ACCOUNT)


class TestTheJobsOwnToken:
    def test_is_accepted(self) -> None:
        """R33."""
        iam().authenticate(bearing(token()))

    def test_is_accepted_from_each_of_several_accounts(self) -> None:
        """R33: a step has more than one caller."""
        several = open_authenticator(
            "iam", audience=AUDIENCE, service_account=f"first@example.com,{ACCOUNT}"
        )
        several.authenticate(bearing(token()))
        several.authenticate(bearing(token(claims(email="first@example.com"))))
        for email in ("second@example.com", "", f"first@example.com,{ACCOUNT}"):
            with pytest.raises(Forbidden):
                several.authenticate(bearing(token(claims(email=email))))

    @pytest.mark.parametrize("issuer", ["https://accounts.google.com", "accounts.google.com"])
    def test_is_accepted_with_either_spelling_of_googles_issuer(self, issuer: str) -> None:
        """R33."""
        iam().authenticate(bearing(token(claims(iss=issuer))))

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
    def test_is_accepted_however_the_scheme_is_spelt(self, scheme: str) -> None:
        """R33: HTTP's schemes have no case."""
        iam().authenticate({"authorization": (f"{scheme} {token()}",)})

    def test_is_accepted_by_an_instance_whose_clock_is_a_day_wrong(self) -> None:
        """R33: Cloud Run has compared the lifetime by Google's clock, so it is not done again."""
        iam().authenticate(bearing(token(claims(iat=1, exp=2))))

    def test_is_accepted_for_any_audience_where_none_is_configured(self) -> None:
        """R33: the platform's check of the audience is all then."""
        iam(audience="").authenticate(bearing(token(claims(aud="https://other.example"))))

    def test_causes_no_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        """R39."""
        iam().authenticate(bearing(token()))
        assert not caplog.records


class TestAnotherCaller:
    def test_of_another_account_is_forbidden_and_both_are_named(self) -> None:
        """R33: `roles/run.invoker` on the service is not enough."""
        with pytest.raises(Forbidden) as refused:
            iam().authenticate(bearing(token(claims(email=OTHER))))
        assert OTHER in refused.value.reason
        assert ACCOUNT in refused.value.reason

    @pytest.mark.parametrize("email", [ACCOUNT.upper(), f" {ACCOUNT}", f"{ACCOUNT}.evil.example"])
    def test_of_a_similar_account_is_forbidden(self, email: str) -> None:
        """R33."""
        with pytest.raises(Forbidden):
            iam().authenticate(bearing(token(claims(email=email))))

    @pytest.mark.parametrize("email", [MISSING, None, 7, [ACCOUNT], {"email": ACCOUNT}])
    def test_without_an_account_is_unauthenticated(self, email: object) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="email"):
            iam().authenticate(bearing(token(claims(email=email))))

    @pytest.mark.parametrize("verified", [False, "true", 1, None, MISSING])
    def test_whose_account_is_not_verified_is_unauthenticated(self, verified: object) -> None:
        """R33: nothing but JSON's `true` counts."""
        with pytest.raises(Unauthenticated, match="email_verified"):
            iam().authenticate(bearing(token(claims(email_verified=verified))))

    @pytest.mark.parametrize(
        "audience", ["https://other.example", f"{AUDIENCE}/", "", [AUDIENCE], MISSING]
    )
    def test_for_another_audience_is_unauthenticated(self, audience: object) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="audience") as refused:
            iam().authenticate(bearing(token(claims(aud=audience))))
        assert AUDIENCE in refused.value.reason

    @pytest.mark.parametrize(
        "issuer", ["https://accounts.google.com.evil.example", "", ["accounts.google.com"], MISSING]
    )
    def test_of_another_issuer_is_unauthenticated(self, issuer: object) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="issuer"):
            iam().authenticate(bearing(token(claims(iss=issuer))))


class TestNoToken:
    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"authorization": ()},
            {
                "x-cloudscheduler": ("true",),
                "x-cloudscheduler-jobname": ("nightly-report",),
                "user-agent": ("Google-Cloud-Scheduler",),
            },
        ],
    )
    def test_is_unauthenticated_whatever_the_other_headers_say(self, headers: Headers) -> None:
        """R33, R07: the Scheduler headers prove nothing."""
        with pytest.raises(Unauthenticated, match="no Authorization header"):
            iam().authenticate(headers)

    def test_warns_that_the_service_may_be_public_and_how_to_mend_it(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R33: behind Cloud Run's check such a request cannot come."""
        with pytest.raises(Unauthenticated) as refused:
            iam().authenticate({})
        (warning,) = caplog.records
        assert warning.levelno == logging.WARNING
        assert "public by mistake" in warning.getMessage()
        assert "--no-allow-unauthenticated" in warning.getMessage()
        assert "public" not in refused.value.reason, "the caller is told nothing of that"


class TestASignatureThatIsStillThere:
    @pytest.mark.parametrize("signature", ["c2lnbmF0dXJl", "SIGNATURE_REMOVED_BY_SOMEBODY"])
    def test_is_accepted_with_a_warning_that_the_check_seems_off(
        self, signature: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """R33: Cloud Run removes the signature of every token that it verifies."""
        iam().authenticate(bearing(token(signature=signature)))
        (warning,) = caplog.records
        assert warning.levelno == logging.WARNING
        assert "check seems to be off" in warning.getMessage()
        assert signature not in warning.getMessage()


class TestXServerlessAuthorization:
    """With both headers, Cloud Run verifies this one and lets `Authorization` pass unread."""

    def test_an_invoker_cannot_pass_for_the_job_by_forging_the_other_header(self) -> None:
        """R33."""
        headers = {
            "x-serverless-authorization": (f"Bearer {token(claims(email=OTHER))}",),
            "authorization": (f"Bearer {token()}",),
        }
        with pytest.raises(Forbidden):
            iam().authenticate(headers)

    def test_is_the_one_that_counts(self) -> None:
        """R33."""
        headers = {
            "x-serverless-authorization": (f"Bearer {token()}",),
            "authorization": ("Basic dXNlcjpwYXNzd29yZA",),
        }
        iam().authenticate(headers)

    def test_must_hold_a_good_token_where_it_is_sent(self) -> None:
        """R33: a bad one does not lead back to the unverified header."""
        headers = {
            "x-serverless-authorization": ("Bearer nonsense",),
            "authorization": (f"Bearer {token()}",),
        }
        with pytest.raises(Unauthenticated):
            iam().authenticate(headers)


class TestAMalformedToken:
    @pytest.mark.parametrize(
        "value",
        [
            "",
            " ",
            "Bearer",
            "Bearer ",
            token(),
            f"Basic {token()}",
            f"Bearer: {token()}",
            f"Bearer\t{token()}",
            f"Bearer {token()} {token()}",
        ],
    )
    def test_in_another_scheme_or_shape_is_unauthenticated(self, value: str) -> None:
        """R33."""
        with pytest.raises(Unauthenticated):
            iam().authenticate({"authorization": (value,)})

    @pytest.mark.parametrize(
        "values",
        [
            (f"Bearer {token()}", f"Bearer {token()}"),
            (f"Bearer {token()},Bearer {token()}",),
            (f"Bearer {token()}, Bearer {token(claims(email=OTHER))}",),
            ("", f"Bearer {token()}"),
        ],
    )
    def test_more_than_one_header_is_unauthenticated(self, values: tuple[str, ...]) -> None:
        """R33: which of them was verified cannot be known; some servers join them by commas."""
        with pytest.raises(Unauthenticated, match="more than one"):
            iam().authenticate({"authorization": values})

    @pytest.mark.parametrize(
        "text",
        [
            "nonsense",
            "a.b",
            "a.b.c.d",
            "..",
            f".{encoded(claims())}.{REMOVED}",
            f"{encoded({'alg': 'none'})}.{encoded(claims())}.",
            f"{encoded({'alg': 'RS256'})}.a.{REMOVED}",
            f"{encoded({'alg': 'RS256'})}.{encoded(b'not JSON')}.{REMOVED}",
            f"{encoded({'alg': 'RS256'})}.{encoded(bytes([0xFF, 0xFE, 0x00]))}.{REMOVED}",
            f"{encoded({'alg': 'RS256'})}.{encoded(claims())}=.{REMOVED}",
            f"{encoded({'alg': 'RS256'})}.{encoded(claims())}+/.{REMOVED}",
            f"{encoded(b'[1')}.{encoded(claims())}.{REMOVED}",
        ],
    )
    def test_that_is_no_json_web_token_is_unauthenticated(self, text: str) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="token"):
            iam().authenticate(bearing(text))

    @pytest.mark.parametrize("payload", [[], [claims()], "text", 7, 1.5, True])
    def test_whose_payload_is_no_object_is_unauthenticated(self, payload: object) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="payload is not a JSON object"):
            iam().authenticate(bearing(token(payload)))

    @pytest.mark.parametrize(
        "odd", ["\0", "\x80", "\xff", "\u6f22", "\udc80", "\n", "\u017f", "\u212a"]
    )
    def test_with_odd_characters_is_unauthenticated(self, odd: str) -> None:
        """R33."""
        for value in (f"Bearer {odd}{token()}", f"Bearer {token()}{odd}", f"{odd}Bearer {token()}"):
            with pytest.raises(Unauthenticated):
                iam().authenticate({"authorization": (value,)})

    @pytest.mark.parametrize(
        "payload",
        [
            claims(padding="x" * 1_000_000),
            b"[" * 5_000,
            b'{"a":' * 1_100,
            b'{"exp":' + b"9" * 5_000 + b"}",
        ],
        ids=["long", "deep list", "deep object", "long number"],
    )
    def test_that_is_huge_or_deep_is_unauthenticated(self, payload: object) -> None:
        """R33."""
        with pytest.raises(Unauthenticated):
            iam().authenticate(bearing(token(payload)))

    def test_never_shows_in_the_reason(self) -> None:
        """R39: no token in an answer or a log line."""
        secret = encoded(b"secret")
        for text in (secret, f"{secret}.{secret}.{secret}", token(claims(email=OTHER))):
            for value in (text, f"Basic {text}", f"Bearer {text}"):
                with pytest.raises((Unauthenticated, Forbidden)) as refused:
                    iam().authenticate({"authorization": (value,)})
                reason = refused.value.reason
                assert not any(part in reason for part in text.split("."))
                assert str(refused.value) == reason

    def test_shows_foreign_text_short_and_escaped(self) -> None:
        """R39: a claim may hold anything."""
        hostile: Mapping[str, object] = claims(email="\n\x1b[31m\u202e" + "x" * 2_000)
        with pytest.raises(Forbidden) as refused:
            iam().authenticate(bearing(token(hostile)))
        assert refused.value.reason.isprintable()
        assert len(refused.value.reason) < 600


class TestConfiguration:
    def test_a_service_account_is_required(self) -> None:
        """R33: without one any invoker would do."""
        with pytest.raises(ValueError, match="AUTH_SERVICE_ACCOUNT"):
            open_authenticator("iam", audience=AUDIENCE, service_account="")
