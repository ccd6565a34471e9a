"""Who may ask a control plane of our own, and by what it is known: tokens, keys, kubeconfig."""

from __future__ import annotations

import base64
import json
import secrets
from pathlib import Path

from plimsoll.benchmark.churn.control_plane.programs import (
    CERTIFICATE,
    CERTIFICATES,
    KUBECONFIG,
    SIGNING_KEY,
    TOKENS,
)
from plimsoll.host.namespaces.ip_command import find_program, run_program

_OPENSSL = "openssl"


def write_tokens(folder: Path) -> str:
    """Write who may do everything, and return the token by which."""
    token = secrets.token_hex(16)
    _write(folder / TOKENS, f'{token},plimsoll,plimsoll,"system:masters"\n'.encode())
    return token


def write_signing_key(folder: Path) -> None:
    """Write the key by which the server signs tokens of service accounts. Raises MachineError."""
    program = find_program(_OPENSSL, _OPENSSL, where="cluster")
    words = ("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    _write(folder / SIGNING_KEY, run_program([program, *words], where="cluster").encode())


def make_certificate_folder(folder: Path) -> None:
    """Where the server puts the certificate that it makes for itself."""
    (folder / CERTIFICATES).mkdir(mode=0o700)


def write_kubeconfig(folder: Path, url: str, token: str) -> Path:
    """Write a kubeconfig for `token`, once the server has its certificate; its path."""
    trusted = base64.b64encode((folder / CERTIFICATE).read_bytes()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "plimsoll",
        "clusters": [
            {"name": "plimsoll", "cluster": {"server": url, "certificate-authority-data": trusted}}
        ],
        "users": [{"name": "plimsoll", "user": {"token": token}}],
        "contexts": [{"name": "plimsoll", "context": {"cluster": "plimsoll", "user": "plimsoll"}}],
    }
    path = folder / KUBECONFIG
    _write(path, json.dumps(document).encode())
    return path


def _write(path: Path, content: bytes) -> None:
    path.touch(0o600)
    path.write_bytes(content)
