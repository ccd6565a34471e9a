"""What containers of ours may do, and take: what the standard "restricted" allows, or less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The image's user; of no rights anywhere.
IMAGE_USER = 65532


def without_rights(user: int = IMAGE_USER) -> dict[str, Any]:
    """The security context of a container that has no capabilities, and a root it cannot write."""
    return {
        "seccompProfile": {"type": "RuntimeDefault"},
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsUser": user,
        "runAsNonRoot": user != 0,
    }


def guaranteed(resources: Mapping[str, str]) -> dict[str, Any]:
    """Limits that equal requests, as of a guaranteed pod."""
    return {"limits": dict(resources), "requests": dict(resources)}
