"""The configuration that a host's kubelet was started with."""

from __future__ import annotations

import json
from typing import Any

from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.tune.host.view.host_view import HostView

# OpenShift's, and kubeadm's, where /etc/kubernetes/kubelet.conf is a kubeconfig instead.
KUBELET_FILES = ("/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml")
KIND = "KubeletConfiguration"
# What is read of it. Others hold tokens and headers (staticPodURLHeader), and a file that is no
# such configuration may be a kubeconfig.
FIELDS = (
    "allowedUnsafeSysctls",
    "cpuCFSQuota",
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "cpuManagerReconcilePeriod",
    "evictionHard",
    "kubeReserved",
    "maxPods",
    "memoryManagerPolicy",
    "podPidsLimit",
    "reservedMemory",
    "reservedSystemCPUs",
    "staticPodPath",
    "systemReserved",
    "topologyManagerPolicy",
    "topologyManagerPolicyOptions",
    "topologyManagerScope",
)


def read_kubelet_configuration(view: HostView) -> tuple[str, dict[str, Any] | None]:
    """(file, its fields); None where no file holds such a configuration. Raises CannotRead."""
    for path in KUBELET_FILES:
        text = view.find(path)
        if text is None:
            continue
        if (found := _parsed(text)) is not None:
            return path, found
    return KUBELET_FILES[0], None


def read_fields(text: str) -> str:
    """The text of such a file with nothing but what is read of it; an empty one of another."""
    found = _parsed(text)
    kept = {name: found[name] for name in ("kind", *FIELDS) if name in found} if found else {}
    return json.dumps(kept, indent=1, default=str)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        data = load_yaml(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) and data.get("kind") == KIND else None
