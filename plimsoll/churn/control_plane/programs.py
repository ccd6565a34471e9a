"""The programs of a control plane of our own: where they are, and their options."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import MachineError

LOOPBACK = "127.0.0.1"
ISSUER = "https://kubernetes.default.svc"
# Files in the control plane's folder, in which all of them run. etcd takes a host and a port for
# a socket's name.
ETCD_SOCKET, PEER_SOCKET = "etcd:1", "peer:1"
TOKENS, KUBECONFIG, SIGNING_KEY = "tokens.csv", "kubeconfig", "service-accounts.key"
CERTIFICATES, CERTIFICATE = "certificates", "certificates/apiserver.crt"
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
# As OpenShift has it; the programs' own 20 a second would measure that limit and nothing else.
_CONTROLLERS_QPS, _CONTROLLERS_BURST = 150, 200


@dataclass(frozen=True, slots=True)
class Programs:
    """The paths of the four programs, by name."""

    paths: dict[str, Path]

    def __getitem__(self, name: str) -> str:
        return str(self.paths[name])


def find_programs(folder: Path | None, names: Sequence[str] = COMPONENTS) -> Programs:
    """In `folder`, else on PATH; by default all four.

    Raises MachineError naming those that are missing.
    """
    search = os.pathsep.join(
        [*([str(folder.absolute())] if folder else []), os.environ.get("PATH", os.defpath)]
    )
    found = {name: shutil.which(name, path=search) for name in names}
    if missing := [name for name, path in found.items() if path is None]:
        raise MachineError(
            f"there is no {' and no '.join(missing)}",
            where="cluster.programs",
            remedy="build them with make control-plane, name the folder that has them, or give "
            "the kubeconfig of a cluster (cluster: {kind: kubeconfig})",
        )
    return Programs({name: Path(path).absolute() for name, path in found.items() if path})


def etcd_options() -> list[str]:
    """One member, which listens on sockets in its folder alone."""
    client, peer = f"unix://{ETCD_SOCKET}", f"unix://{PEER_SOCKET}"
    return [
        *("--name", "plimsoll", "--data-dir", "store", "--initial-cluster", f"plimsoll={peer}"),
        *("--listen-client-urls", client, "--advertise-client-urls", client),
        *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
    ]


def apiserver_options(port: int) -> list[str]:
    """On loopback, with TLS and tokens; every admission plugin that it has by itself."""
    return [
        *(f"--bind-address={LOOPBACK}", f"--advertise-address={LOOPBACK}"),
        *(f"--secure-port={port}", f"--etcd-servers=unix://{ETCD_SOCKET}"),
        *(f"--cert-dir={CERTIFICATES}", f"--token-auth-file={TOKENS}"),
        *("--authorization-mode=RBAC", f"--service-account-issuer={ISSUER}"),
        f"--service-account-key-file={SIGNING_KEY}",
        f"--service-account-signing-key-file={SIGNING_KEY}",
        "--service-cluster-ip-range=10.96.0.0/12",
        # Its own address is of no use to anybody, and the check of it takes a real one.
        "--endpoint-reconciler-type=none",
    ]


def controllers_options() -> list[str]:
    """All controllers; it serves nothing itself."""
    return [
        *(f"--kubeconfig={KUBECONFIG}", "--leader-elect=false", "--secure-port=0"),
        *(f"--root-ca-file={CERTIFICATE}", f"--service-account-private-key-file={SIGNING_KEY}"),
        f"--kube-api-qps={_CONTROLLERS_QPS}",
        f"--kube-api-burst={_CONTROLLERS_BURST}",
    ]


def scheduler_options() -> list[str]:
    """As it comes; it serves nothing itself."""
    return [f"--kubeconfig={KUBECONFIG}", "--leader-elect=false", "--secure-port=0"]
