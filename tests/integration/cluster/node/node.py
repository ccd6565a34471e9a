"""A cluster of one node or two that run real pods, for tests, who are outside of it.

Kubelet, containerd, pods and control plane are in namespaces of their own. Whatever ends the test
ends them: the kernel kills the first process there, and all others with it; what is left, control
groups and files, is the ledger's to remove.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.namespaces.network_namespace import run_within
from plimsoll.host.processes.child import with_parent_death_signal
from plimsoll.host.processes.identity import identify
from plimsoll.version import VERSION
from tests.integration.cluster.control_plane import ROOT, CannotServe, find_program
from tests.integration.cluster.node.first_process import OWNER, READY, TESTER
from tests.integration.cluster.node.settings import CNI_PLUGINS
from tests.integration.cluster.owner import Owner

T = TypeVar("T")

NAMESPACE = "bench"
# Where `make pod-image` puts it, and its name in there.
IMAGE_ARCHIVE = ROOT / "build" / "image" / "plimsoll.tar"
IMAGE = f"localhost/plimsoll:{VERSION}"
_BUILT = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")
_INSTALLED = ("containerd", "ctr", "runc", "gcc", "ip", "nsenter", "unshare")
# What docs/kubernetes.md says that a run needs, and no more.
_OBJECTS = {"resources": ["pods", "configmaps"], "verbs": ["create", "get", "list", "delete"]}
_EXEC = {"resources": ["pods/exec"], "verbs": ["create", "get"]}
_ACCOUNTS = {"resources": ["serviceaccounts"], "verbs": ["create"]}
_RIGHTS = {
    "apiGroups": ["rbac.authorization.k8s.io"],
    "resources": ["roles", "rolebindings"],
    "verbs": ["create"],
}
_RULES = [*({"apiGroups": [""], **each} for each in (_OBJECTS, _EXEC, _ACCOUNTS)), _RIGHTS]


@dataclass(frozen=True)
class Node:
    """The cluster; its namespace holds pods to the standard "restricted"."""

    folder: Path
    pid: int

    @property
    def tester_config(self) -> Path:
        """The kubeconfig of one who has a run's rights in the namespace and no others."""
        return self.folder / TESTER

    @property
    def enter(self) -> tuple[str, ...]:
        """The command that runs another one where the API server is reached."""
        return with_parent_death_signal(["nsenter", f"--net={self._network}"])

    def as_owner(self, work: Callable[[Owner], T]) -> T:
        """What `work` returns, with a client that may do everything."""
        return self.within(lambda: work(Owner(self.folder / OWNER)))

    def within(self, work: Callable[[], T]) -> T:
        """What `work` returns, done where the API server is reached."""
        return run_within(self._network, work)

    def left(self) -> list[str]:
        """The pods and config maps of the namespace, without what controllers put there."""
        kinds = ("Pod", "ConfigMap")
        found = self.as_owner(
            lambda owner: [each for kind in kinds for each in owner.names("v1", kind, NAMESPACE)]
        )
        return [name for name in found if name != "kube-root-ca.crt"]

    @property
    def _network(self) -> Path:
        return Path(f"/proc/{self.pid}/ns/net")


@contextmanager
def real_node(folder: Path, *, nodes: int = 1, static: bool = False) -> Iterator[Node]:
    """A cluster in `folder`, its nodes ready; with `static` the first one's CPUs are pods' own.

    Raises CannotServe where something of it is missing.
    """
    if missing := list(_missing()):
        raise CannotServe(f"real pods need {', '.join(missing)} (make kubelet pod-image)")
    with swept_ledger("node") as ledger:
        cgroup = f"plimsoll-{ledger.id}"
        ledger.note_path(folder)
        folder.mkdir(exist_ok=True)
        for name in (cgroup, *(f"{cgroup}-{number}" for number in range(2, nodes + 1))):
            ledger.note_undoing_module("tests.integration.cluster.node.cgroups", name)
        policy = "static" if static else "none"
        arguments = [str(folder), cgroup, policy, str(nodes), str(IMAGE_ARCHIVE)]
        process = _start(ledger.environment, arguments)
        ledger.note_process("node", identify(process.pid))
        with process:
            try:
                _await(process)
                found = Node(folder, process.pid)
                found.as_owner(_grant)
                yield found
            finally:
                process.kill()


def _missing() -> Iterator[str]:
    if os.geteuid() != 0:
        yield "root"
    yield from (name for name in _BUILT if find_program(name) is None)
    yield from (name for name in _INSTALLED if shutil.which(name) is None)
    yield from (str(path) for path in (CNI_PLUGINS, IMAGE_ARCHIVE) if not path.exists())


def _start(environment: dict[str, str], arguments: Sequence[str]) -> subprocess.Popen[str]:
    own = ("--net", "--mount", "--propagation", "private", "--pid", "--mount-proc")
    module = (sys.executable, "-m", "tests.integration.cluster.node.first_process", *arguments)
    return subprocess.Popen(
        with_parent_death_signal(["unshare", *own, "--fork", "--kill-child", *module]),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _await(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == READY, "the node did not come up: see above"


def _grant(owner: Owner) -> None:
    """The namespace, and the tester's rights in it."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {"name": NAMESPACE, "labels": labels}
    owner.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    rights = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    place = {"name": "runs", "namespace": NAMESPACE}
    owner.apply({**rights, "kind": "Role", "metadata": place, "rules": _RULES})
    owner.apply(
        {
            **rights,
            "kind": "RoleBinding",
            "metadata": place,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "runs"},
            "subjects": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tester"}
            ],
        }
    )
