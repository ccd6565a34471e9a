"""Certificates, keys and tokens of an API server that lives as long as a test."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Longer than any test, shorter than anybody could come to rely on.
LIFE = timedelta(days=1)
LOOPBACK = IPv4Address("127.0.0.1")
# The first address of the range that the server is given for services.
SERVICE = "10.0.0.1"


@dataclass(frozen=True)
class Identity:
    """A certificate and its key, both as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs certificates; only those trust it who are given its own."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _subject(name)
        extensions: list[tuple[x509.ExtensionType, bool]] = [
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (_key_usage(signs_certificates=True), True),
            # Python from 3.13 on refuses an authority without it.
            (x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), False),
        ]
        self._certificate = self._sign(self._subject, self._key, extensions)

    @property
    def certificate(self) -> bytes:
        """The authority's own, as PEM."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def for_server(self) -> Identity:
        """For a server on 127.0.0.1, which pods know by its service's address."""
        addresses = (LOOPBACK, IPv4Address(SERVICE))
        names = x509.SubjectAlternativeName([x509.IPAddress(each) for each in addresses])
        return self._issue(_subject("kube-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, [names])

    def for_user(self, name: str, groups: Sequence[str]) -> Identity:
        """For a client that the server takes for `name` of `groups`."""
        return self._issue(_subject(name, groups), ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def _issue(
        self, subject: x509.Name, usage: x509.ObjectIdentifier, more: list[x509.ExtensionType]
    ) -> Identity:
        key = ec.generate_private_key(ec.SECP256R1())
        own = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        extensions = [
            (_key_usage(signs_certificates=False), True),
            *((each, False) for each in (own, x509.ExtendedKeyUsage([usage]), *more)),
        ]
        certificate = self._sign(subject, key, extensions)
        return Identity(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        extensions: Sequence[tuple[x509.ExtensionType, bool]],
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            # Clocks of processes on one host agree, but not to the microsecond.
            .not_valid_before(now - timedelta(minutes=1))
            .not_valid_after(now + LIFE)
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self._key, hashes.SHA256())


class TokenIssuer:
    """Signs tokens of service accounts, as the server itself does that is given the key."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def key(self) -> bytes:
        """The key, as PEM."""
        return _pem(self._key)

    def expired_token(self, claims: Mapping[str, Any]) -> str:
        """A token that the server once gave, as `claims` tells, an hour after its end."""
        past = int((datetime.now(UTC) - timedelta(hours=1)).timestamp())
        body = {**claims, "exp": past, "iat": past - 3600, "nbf": past - 3600}
        parts = [_base64({"alg": "RS256", "typ": "JWT"}), _base64(body)]
        signed = self._key.sign(".".join(parts).encode(), padding.PKCS1v15(), hashes.SHA256())
        return ".".join([*parts, _base64_of(signed)])


def claims_of(token: str) -> dict[str, Any]:
    """What a token says of itself; its signature is not looked at."""
    part = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def _subject(name: str, groups: Sequence[str] = ()) -> x509.Name:
    """Kubernetes takes a certificate's organizations for the user's groups."""
    attributes = [(NameOID.COMMON_NAME, name)]
    attributes += [(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in attributes])


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _base64(document: Mapping[str, Any]) -> str:
    return _base64_of(json.dumps(document).encode())


def _base64_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
