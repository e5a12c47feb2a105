"""`AUTH=verify`: the whole token is verified, with real keys and a real certificates' server."""

import hashlib
import hmac
import json
import time

import pytest

from app.auth import (
    Authenticator,
    Forbidden,
    Unauthenticated,
)
from tests.auth_verify.tokens import (
    ACCOUNT,
    AUDIENCE,
    MISSING,
    OTHER,
    CertificateServer,
    Key,
    bearing,
    claims,
    encoded,
    token,
)


class TestTheJobsOwnToken:
    @pytest.mark.parametrize("issuer", ["https://accounts.google.com", "accounts.google.com"])
    def test_is_accepted(self, verifier: Authenticator, google: Key, issuer: str) -> None:
        """R33."""
        verifier.authenticate(bearing(token(google, claims(iss=issuer))))

    def test_is_accepted_across_small_differences_of_the_clocks(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: ten seconds either way; the margins here leave room for a slow test."""
        now = int(time.time())
        verifier.authenticate(bearing(token(google, claims(iat=now + 8))))
        verifier.authenticate(bearing(token(google, claims(iat=now - 3600, exp=now - 4))))


class TestATokenThatProvesNothing:
    def test_signed_with_another_key_is_unauthenticated(
        self, verifier: Authenticator, stranger: Key
    ) -> None:
        """R33: a forged token, under the id of Google's key."""
        with pytest.raises(Unauthenticated, match="signature"):
            verifier.authenticate(bearing(token(stranger)))

    def test_changed_after_signing_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33."""
        header, _, signature = token(google, claims(email=OTHER)).split(".")
        with pytest.raises(Unauthenticated, match="signature"):
            verifier.authenticate(bearing(f"{header}.{encoded(claims())}.{signature}"))

    @pytest.mark.parametrize(
        "alg", ["none", "NONE", "HS256", "RS512", "ES256", "", None, ["RS256"]]
    )
    def test_with_another_algorithm_is_unauthenticated(
        self, verifier: Authenticator, google: Key, alg: object
    ) -> None:
        """R33: the token does not choose how it is verified."""
        header = {"alg": alg, "kid": google.id, "typ": "JWT"}
        with pytest.raises(Unauthenticated, match="RS256"):
            verifier.authenticate(bearing(token(google, header=header)))

    def test_with_no_algorithm_and_no_signature_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33."""
        header = {"alg": "none", "kid": google.id}
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(f"{encoded(header)}.{encoded(claims())}."))

    @pytest.mark.parametrize("secret", ["certificate", "public key"])
    def test_signed_with_googles_public_key_as_secret_is_unauthenticated(
        self, verifier: Authenticator, google: Key, secret: str
    ) -> None:
        """R33: HS256 with what everybody knows."""
        known = google.certificate.encode() if secret == "certificate" else google.public_pem()
        forged = token(
            google,
            header={"alg": "HS256", "kid": google.id},
            sign=lambda data: hmac.digest(known, data, hashlib.sha256),
        )
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(forged))

    def test_whose_signature_cloud_run_removed_is_unauthenticated_and_says_why(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: the wrong mode behind the platform's check; `iam` is the right one."""
        header, payload, _ = token(google).split(".")
        with pytest.raises(Unauthenticated, match="auth=iam"):
            verifier.authenticate(bearing(f"{header}.{payload}.SIGNATURE_REMOVED_BY_GOOGLE"))

    @pytest.mark.parametrize("key_id", ["", None, 7, ["current"], {"kid": "current"}])
    def test_that_does_not_name_its_key_is_unauthenticated(
        self, verifier: Authenticator, google: Key, key_id: object
    ) -> None:
        """R33."""
        header = {"alg": "RS256", "kid": key_id}
        with pytest.raises(Unauthenticated, match="kid"):
            verifier.authenticate(bearing(token(google, header=header)))

    def test_in_another_header_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: `Authorization` is where Scheduler puts it."""
        with pytest.raises(Unauthenticated, match="no Authorization header"):
            verifier.authenticate({"x-serverless-authorization": (f"Bearer {token(google)}",)})

    def test_is_unauthenticated_whatever_the_scheduler_headers_say(
        self, verifier: Authenticator
    ) -> None:
        """R07: they prove nothing."""
        with pytest.raises(Unauthenticated):
            verifier.authenticate(
                {
                    "x-cloudscheduler": ("true",),
                    "x-cloudscheduler-jobname": ("nightly-report",),
                    "user-agent": ("Google-Cloud-Scheduler",),
                }
            )


class TestALifetime:
    def test_that_is_over_is_unauthenticated(self, verifier: Authenticator, google: Key) -> None:
        """R33."""
        now = int(time.time())
        with pytest.raises(Unauthenticated, match="expired"):
            verifier.authenticate(bearing(token(google, claims(iat=now - 3700, exp=now - 60))))

    def test_that_has_not_begun_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33."""
        now = int(time.time())
        with pytest.raises(Unauthenticated, match="not valid yet"):
            verifier.authenticate(bearing(token(google, claims(iat=now + 60, exp=now + 3660))))

    @pytest.mark.parametrize("name", ["iat", "exp"])
    @pytest.mark.parametrize("value", [MISSING, None, "soon", True, [], float("nan"), 1e300])
    def test_that_is_no_time_is_unauthenticated(
        self, verifier: Authenticator, google: Key, name: str, value: object
    ) -> None:
        """R33: `NaN` would never be over."""
        with pytest.raises(Unauthenticated, match="lifetime"):
            verifier.authenticate(bearing(token(google, claims(**{name: value}))))


class TestAGenuineTokenOfGoogle:
    """Anybody can have one: it must also be for this service and of this account."""

    @pytest.mark.parametrize(
        "audience", ["https://other.example.com", f"{AUDIENCE}/", "", [AUDIENCE], MISSING]
    )
    def test_for_another_audience_is_unauthenticated(
        self, verifier: Authenticator, google: Key, audience: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="audience") as refused:
            verifier.authenticate(bearing(token(google, claims(aud=audience))))
        assert AUDIENCE in refused.value.reason

    @pytest.mark.parametrize(
        "issuer",
        ["https://securetoken.google.com/my-project", "", ["accounts.google.com"], MISSING],
    )
    def test_of_another_issuer_is_unauthenticated(
        self, verifier: Authenticator, google: Key, issuer: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="issuer"):
            verifier.authenticate(bearing(token(google, claims(iss=issuer))))

    @pytest.mark.parametrize("email", [OTHER, ACCOUNT.upper(), f"{ACCOUNT}.evil.example"])
    def test_of_another_account_is_forbidden_and_both_are_named(
        self, verifier: Authenticator, google: Key, email: str
    ) -> None:
        """R33."""
        with pytest.raises(Forbidden) as refused:
            verifier.authenticate(bearing(token(google, claims(email=email))))
        assert email in refused.value.reason
        assert ACCOUNT in refused.value.reason

    @pytest.mark.parametrize("email", [MISSING, None, 7, [ACCOUNT]])
    def test_without_an_account_is_unauthenticated(
        self, verifier: Authenticator, google: Key, email: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="email"):
            verifier.authenticate(bearing(token(google, claims(email=email))))

    @pytest.mark.parametrize("verified", [False, "true", 1, None, MISSING])
    def test_whose_account_is_not_verified_is_unauthenticated(
        self, verifier: Authenticator, google: Key, verified: object
    ) -> None:
        """R33: nothing but JSON's `true` counts."""
        with pytest.raises(Unauthenticated, match="email_verified"):
            verifier.authenticate(bearing(token(google, claims(email_verified=verified))))

    def test_of_another_account_with_a_forged_signature_learns_no_account(
        self, verifier: Authenticator, stranger: Key
    ) -> None:
        """R33: who the job is, is told only to those whose own account is proved."""
        with pytest.raises(Unauthenticated) as refused:
            verifier.authenticate(bearing(token(stranger, claims(email=OTHER))))
        assert ACCOUNT not in refused.value.reason


class TestAMalformedToken:
    @pytest.mark.parametrize(
        "value",
        [
            "",
            "Bearer",
            "Bearer ",
            "Basic a.b.c",
            "Bearer a",
            "Bearer a.b.c.d",
            "Bearer ..",
            "a.b.c",
        ],
    )
    def test_in_another_scheme_or_shape_is_unauthenticated(
        self, verifier: Authenticator, server: CertificateServer, value: str
    ) -> None:
        """R33: and nothing is fetched for it."""
        with pytest.raises(Unauthenticated):
            verifier.authenticate({"authorization": (value,)})
        assert server.asked == 0

    def test_more_than_one_header_is_unauthenticated(
        self, verifier: Authenticator, google: Key
    ) -> None:
        """R33: some servers join them by commas."""
        value = f"Bearer {token(google)}"
        for values in ((value, value), (f"{value},{value}",)):
            with pytest.raises(Unauthenticated, match="more than one"):
                verifier.authenticate({"authorization": values})

    @pytest.mark.parametrize("payload", [[], [{}], "text", 7, True])
    def test_whose_payload_is_no_object_is_unauthenticated(
        self, verifier: Authenticator, google: Key, payload: object
    ) -> None:
        """R33."""
        with pytest.raises(Unauthenticated, match="payload is not a JSON object"):
            verifier.authenticate(bearing(token(google, payload)))

    @pytest.mark.parametrize("odd", ["\0", "\x80", "\xff", "\u6f22", "\udc80", "\n", "+", "/", "="])
    def test_with_odd_characters_is_unauthenticated(
        self, verifier: Authenticator, google: Key, odd: str
    ) -> None:
        """R33."""
        for text in (f"{odd}{token(google)}", f"{token(google)}{odd}"):
            with pytest.raises(Unauthenticated):
                verifier.authenticate(bearing(text))

    @pytest.mark.parametrize("part", ["header", "payload", "signature"])
    def test_with_invalid_base64_is_unauthenticated(
        self, verifier: Authenticator, google: Key, part: str
    ) -> None:
        """R33: five characters encode no number of bytes."""
        parts = dict(zip(("header", "payload", "signature"), token(google).split("."), strict=True))
        parts[part] = "abcde"
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(".".join(parts.values())))

    def test_that_is_huge_is_unauthenticated(self, verifier: Authenticator, google: Key) -> None:
        """R33: Google's tokens have about a thousand characters."""
        with pytest.raises(Unauthenticated, match="longer than"):
            verifier.authenticate(bearing(token(google, claims(padding="x" * 1_000_000))))

    @pytest.mark.parametrize("depth", [*range(850, 1000, 3), 2_000, 5_000])
    def test_that_is_deeply_nested_is_unauthenticated(
        self, verifier: Authenticator, stranger: Key, depth: int
    ) -> None:
        """R33: at whatever depth reading it ends, it does not end the request with a 500."""
        nested = json.dumps(claims()).encode()[:-1] + b',"x":' + b"[" * depth + b"]" * depth + b"}"
        with pytest.raises(Unauthenticated):
            verifier.authenticate(bearing(token(stranger, nested)))

    def test_never_shows_in_the_reason_or_in_the_trace(
        self, verifier: Authenticator, google: Key, stranger: Key
    ) -> None:
        """R39: no token in an answer or a log line."""
        texts = [
            token(stranger),
            token(google, claims(exp=1)),
            token(google, claims(email=OTHER)),
            token(google, b"no JSON"),
            token(google) + "!",
        ]
        for text in texts:
            with pytest.raises((Unauthenticated, Forbidden)) as refused:
                verifier.authenticate(bearing(text))
            shown: BaseException | None = refused.value
            while shown is not None:
                assert not any(part in str(shown) for part in text.split("."))
                shown = shown.__cause__
