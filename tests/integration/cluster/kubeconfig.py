"""Kubeconfigs of one server, for its clients."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.integration.cluster.credentials import Identity


def with_token(server: str, authority: bytes, token: str) -> str:
    """For who has a bearer token."""
    return _kubeconfig(server, authority, {"token": token})


def with_certificate(server: str, authority: bytes, identity: Identity) -> str:
    """For who has a client certificate."""
    return _kubeconfig(
        server,
        authority,
        {
            "client-certificate-data": _base64(identity.certificate),
            "client-key-data": _base64(identity.key),
        },
    )


def _kubeconfig(server: str, authority: bytes, user: dict[str, Any]) -> str:
    """As kubectl writes it, of one context, which is current."""
    cluster = {"server": server, "certificate-authority-data": _base64(authority)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    return json.dumps(document)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
