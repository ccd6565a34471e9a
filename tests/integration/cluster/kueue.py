"""A real Kueue at a real API server: what it lets begin, and when.

It runs as a process here, as whoever may do everything. Its webhooks are not registered, so
nothing is defaulted or refused by it but what its controllers do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.free_ports import free_port
from tests.integration.cluster.addon import crds_of, find_addon
from tests.integration.cluster.control_plane import CannotServe, ControlPlane, Program
from tests.integration.cluster.credentials import LOOPBACK
from tests.integration.cluster.owner import Owner

VERSION = "kueue.x-k8s.io/v1beta2"
# It reads a certificate from /etc/kueue whatever its configuration says, and nothing else there.
_WITH_CERTIFICATES = """\
mount -t tmpfs tmpfs /etc && mkdir -p /etc/kueue/metrics &&
    ln -s "$PWD" /etc/kueue/metrics/certs && exec "$@"
"""
_OWN_FILES = ("--mount", "--propagation", "private", "sh", "-c", _WITH_CERTIFICATES, "sh")


@contextmanager
def kueue(plane: ControlPlane, owner: Owner, folder: Path) -> Iterator[Program]:
    """It runs as long as this lasts. Raises CannotServe where `make kueue` left none."""
    program = find_addon("kueue")
    if os.geteuid() != 0:
        raise CannotServe("a Kueue with files of its own takes root")
    owner.install(crds_of("kueue"))
    (folder / ".kube").mkdir()
    (folder / ".kube" / "config").write_text(plane.owners_kubeconfig())
    identity = plane.authority.for_server()
    (folder / "tls.crt").write_bytes(identity.certificate)
    (folder / "tls.key").touch(0o600)
    (folder / "tls.key").write_bytes(identity.key)
    (folder / "kueue.yaml").write_text(yaml.safe_dump(_configuration(folder)))
    running = Program(folder, Path("unshare"), [*_OWN_FILES, str(program), "--config=kueue.yaml"])
    try:
        yield running
    finally:
        running.end()


def _configuration(folder: Path) -> dict[str, Any]:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": "default",
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": str(LOOPBACK), "port": free_port(), "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": {"VisibilityOnDemand": False},
    }


def one_queue(name: str, namespace: str, quotas: dict[str, str]) -> Iterator[dict[str, Any]]:
    """A queue of that name in the namespace, with so much of each resource for all its jobs."""

    def object_of(kind: str, metadata: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
        return {"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec}

    yield object_of("ResourceFlavor", {"name": "testbed"}, {})
    resources = [{"name": each, "nominalQuota": amount} for each, amount in quotas.items()]
    flavors = [{"name": "testbed", "resources": resources}]
    group = {"coveredResources": list(quotas), "flavors": flavors}
    everywhere: dict[str, Any] = {"namespaceSelector": {}, "resourceGroups": [group]}
    yield object_of("ClusterQueue", {"name": "all"}, everywhere)
    local = {"name": name, "namespace": namespace}
    yield object_of("LocalQueue", local, {"clusterQueue": "all"})
