"""The configuration that a host's kubelet was started with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.traffic.document import parse_document
from plimsoll.tune.host.host_view import HostView

# OpenShift's, and kubeadm's, where /etc/kubernetes/kubelet.conf is a kubeconfig instead.
KUBELET_FILES = ("/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml")
KIND = "KubeletConfiguration"


def read_kubelet_configuration(view: HostView) -> tuple[str, dict[str, Any] | None]:
    """(file, its fields); None where no file holds such a configuration. Raises CannotRead."""
    for path in KUBELET_FILES:
        text = view.find(path)
        if text is None:
            continue
        try:
            data = parse_document(Path(path), text).data
        except InputError:
            continue
        if isinstance(data, dict) and data.get("kind") == KIND:
            return path, data
    return KUBELET_FILES[0], None
