"""What containers of ours may do, and take: what the standard "restricted" allows, or less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The image has a user of no rights, and OpenShift gives each namespace users of its own: its
# default constraint (restricted-v2) refuses a pod that names another one.
NOT_ROOT = {"runAsNonRoot": True}


def without_rights(user: Mapping[str, Any] = NOT_ROOT) -> dict[str, Any]:
    """The security context of a container that has no capabilities, and a root it cannot write.

    `user` is the part that says as whom it runs.
    """
    return {
        "seccompProfile": {"type": "RuntimeDefault"},
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        **user,
    }


def guaranteed(resources: Mapping[str, str]) -> dict[str, Any]:
    """Limits that equal requests, as of a guaranteed pod."""
    return {"limits": dict(resources), "requests": dict(resources)}
