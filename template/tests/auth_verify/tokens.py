"""Tokens as Google signs them, with keys of our own, and a server of their certificates."""

import base64
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from app.dedup.delivery import Headers

AUDIENCE = "https://nightly-report.example.com"
ACCOUNT = "nightly-report-job@my-project.iam.gserviceaccount.com"
OTHER = "somebody-else@my-project.iam.gserviceaccount.com"
MISSING = object()


@dataclass(frozen=True)
class Key:
    """A signing key as Google has them: an RSA key with an id and a certificate."""

    id: str
    private: rsa.RSAPrivateKey
    certificate: str

    @classmethod
    def new(cls, key_id: str) -> "Key":
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "federated-signon.example")])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(private.public_key())
            .serial_number(1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=16))
            .sign(private, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM).decode()
        return cls(key_id, private, pem)

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def public_pem(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


@dataclass
class CertificateServer:
    """What the loopback server answers, and how often it was asked."""

    url: str = ""
    body: bytes = b"{}"
    status: int = 200
    content_type: str = "application/json; charset=UTF-8"
    cache_control: str = "public, max-age=20000, must-revalidate, no-transform"
    asked: int = 0
    open: threading.Event = field(default_factory=threading.Event)
    """The server answers once this is set."""
    arrived: threading.Event = field(default_factory=threading.Event)
    """A request has come in."""

    def publish(self, *keys: Key) -> None:
        self.body = json.dumps({key.id: key.certificate for key in keys}).encode()


def encoded(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims(**changes: object) -> dict[str, object]:
    """The claims of a token that Scheduler sends, with changes; `MISSING` takes one away."""
    now = int(time.time())
    sent: dict[str, object] = {
        "iss": "https://accounts.google.com",
        "aud": AUDIENCE,
        "azp": "108100000000000000001",
        "sub": "108100000000000000001",
        "email": ACCOUNT,
        "email_verified": True,
        "iat": now,
        "exp": now + 3600,
    }
    return {name: value for name, value in (sent | changes).items() if value is not MISSING}


def token(
    key: Key,
    payload: object = None,
    *,
    header: object = None,
    sign: Callable[[bytes], bytes] | None = None,
) -> str:
    shown = {"alg": "RS256", "kid": key.id, "typ": "JWT"} if header is None else header
    signed = f"{encoded(shown)}.{encoded(claims() if payload is None else payload)}"
    return f"{signed}.{encoded((sign or key.sign)(signed.encode()))}"


def bearing(text: str) -> Headers:
    return {"authorization": (f"Bearer {text}",)}
