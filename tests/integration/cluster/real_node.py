"""A node that runs real pods: containerd and a kubelet, next to a real API server.

There is no scheduler and no controller: a thread assigns pods to the one node.

Only for processes in network, mount and process namespaces of their own (`enter`): the kubelet
writes sysctls, containerd makes namespaces and mounts, and all of it ends with the first process.
What outlives that are cgroups, which `remove_cgroups` takes away.

Settings as a machine with cgroup v1 needs them: the kubelet is to accept that, uses cgroupfs, may
not lower OOM scores, and has an address that is not loopback's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import kubernetes.client
import kubernetes.config
from kubernetes.client.exceptions import ApiException

from tests.integration.cluster.control_plane import (
    BUILT,
    CannotServe,
    ControlPlane,
    Program,
    control_plane,
    find_parts,
)
from tests.integration.cluster.owner import Owner

NODE = "node-1"
ADDRESS = "10.77.0.1"
PAUSE = "localhost/pause:1"
_CNI_PROGRAMS = Path("/usr/lib/cni")
_CGROUPS = Path("/sys/fs/cgroup")
# Of our own, so that what is left of it is known to be ours.
CGROUP_ROOT = "plimsoll-test-node"
_START_S = 180.0

_CONTAINERD = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
[grpc]
address = "{folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
disable_apparmor = true
stream_server_address = "127.0.0.1"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "{snapshotter}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{cni}"
conf_dir = "{folder}/cni"
"""
_NETWORK = """\
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": false,
 "ipam": {"type": "host-local", "subnet": "10.78.0.0/24", "dataDir": "FOLDER/leases"}}]}
"""
_KUBELET = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /{cgroup}
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://{folder}/containerd.sock
address: {address}
healthzPort: 0
authentication:
  anonymous: {{enabled: false}}
  webhook: {{enabled: false}}
  x509: {{clientCAFile: {authority}}}
authorization: {{mode: AlwaysAllow}}
failSwapOn: false
cpuCFSQuota: false
makeIPTablesUtilChains: false
localStorageCapacityIsolation: false
resolvConf: ""
imageGCHighThresholdPercent: 100
evictionHard: {{memory.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%,
  imagefs.available: 0%, imagefs.inodesFree: 0%}}
"""


@dataclass(frozen=True)
class Node:
    """The cluster with its one node; `config` is the owner's kubeconfig."""

    plane: ControlPlane
    owner: Owner
    config: Path
    folder: Path

    def images(self) -> str:
        return _ctr(self.folder, "images", "ls", "--quiet")

    def containers(self) -> list[str]:
        return _ctr(self.folder, "containers", "ls", "--quiet").split()


def enter(module: str, *arguments: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run `python -m module` as the first process of its own namespaces."""
    command = [
        *("unshare", "--net", "--mount", "--propagation", "private", "--pid", "--fork"),
        *("--kill-child", "--mount-proc", sys.executable, "-m", module, *arguments),
    ]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    finally:
        remove_cgroups()


def remove_cgroups() -> None:
    """Those of the node, the deepest first; what still ends is waited for."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        left = [
            Path(folder)
            for hierarchy in _CGROUPS.iterdir()
            for folder, _, _ in os.walk(hierarchy / CGROUP_ROOT, topdown=False)
        ]
        for folder in left:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if not left:
            return
        time.sleep(0.2)


def missing_parts() -> list[str]:
    """What is not here, in words for a skipped test."""
    programs = ("containerd", "runc", "ctr", "unshare", "ip")
    missing = [name for name in programs if shutil.which(name) is None]
    if not (BUILT / "kubelet").is_file():
        missing.append("kubelet (make kube-node)")
    if not _CNI_PROGRAMS.is_dir():
        missing.append("CNI's plugins")
    try:
        find_parts()
    except CannotServe as why:
        missing.append(str(why))
    return missing


@contextmanager
def real_node(folder: Path, images: Sequence[Path]) -> Iterator[Node]:
    """A cluster with one node that has `images` (archives), in our own namespaces."""
    _prepare_network()
    (folder / "plane").mkdir()
    with control_plane(find_parts(), folder / "plane", kubelet_clients=True) as plane:
        config = folder / "owner.kubeconfig"
        config.write_text(plane.owners_kubeconfig())
        owner = Owner(config)
        programs: list[Program] = []
        try:
            _start_node(folder, config, images, programs)
            node = Node(plane, owner, config, folder)
            _wait_until_ready(node, programs)
            over = threading.Event()
            scheduler = threading.Thread(target=_assign_pods, args=(config, over))
            scheduler.start()
            try:
                yield node
            finally:
                over.set()
                scheduler.join()
        finally:
            for program in reversed(programs):
                program.end()


def _prepare_network() -> None:
    for command in (
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", "node0", "type", "veth", "peer", "name", "node1"],
        ["ip", "address", "add", f"{ADDRESS}/24", "dev", "node0"],
        ["ip", "link", "set", "node0", "up"],
        ["ip", "link", "set", "node1", "up"],
        ["ip", "route", "add", "default", "via", "10.77.0.2", "dev", "node0"],
    ):
        subprocess.run(command, check=True)
    # The plugin writes it, unless it is so already; and no one is to write the others.
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    subprocess.run(["mount", "--bind", "/proc/sys", "/proc/sys"], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", "/proc/sys"], check=True)


def _start_node(
    folder: Path, config: Path, images: Sequence[Path], programs: list[Program]
) -> None:
    (folder / "cni").mkdir()
    (folder / "cni" / "10-pods.conflist").write_text(_NETWORK.replace("FOLDER", str(folder)))
    settings = {"folder": folder, "pause": PAUSE, "cni": _CNI_PROGRAMS}
    text = _CONTAINERD.format(snapshotter=_snapshotter(folder), **settings)
    (folder / "containerd.toml").write_text(text)
    containerd = Path(str(shutil.which("containerd")))
    programs.append(Program(folder, containerd, ["--config", str(folder / "containerd.toml")]))
    _wait_for((folder / "containerd.sock").exists, programs[-1])
    for image in images:
        _ctr(folder, "images", "import", "--no-unpack", str(image))
    authority = folder / "plane" / "ca.crt"
    (folder / "kubelet.yaml").write_text(
        _KUBELET.format(folder=folder, address=ADDRESS, authority=authority, cgroup=CGROUP_ROOT)
    )
    for hierarchy in _CGROUPS.iterdir():
        with contextlib.suppress(OSError):
            (hierarchy / CGROUP_ROOT).mkdir()
    _inherit_cpuset()
    options = [
        *(f"--config={folder}/kubelet.yaml", f"--kubeconfig={config}"),
        *(f"--root-dir={folder}/kubelet", f"--cert-dir={folder}/kubelet-certificates"),
        *(f"--hostname-override={NODE}", f"--node-ip={ADDRESS}"),
    ]
    programs.append(Program(folder, BUILT / "kubelet", options))


def _inherit_cpuset() -> None:
    """A group of cgroup v1's cpuset is empty until it is written."""
    cpuset = _CGROUPS / "cpuset"
    for name in ("cpuset.cpus", "cpuset.mems"):
        if (cpuset / name).exists():
            (cpuset / CGROUP_ROOT / name).write_text((cpuset / name).read_text())


def _snapshotter(folder: Path) -> str:
    """overlayfs, unless the folder lies on one."""
    found = subprocess.run(
        ["stat", "--file-system", "--format=%T", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return "native" if "overlay" in found.stdout else "overlayfs"


def _ctr(folder: Path, *command: str) -> str:
    address = ["ctr", "--address", f"{folder}/containerd.sock", "--namespace", "k8s.io"]
    found = subprocess.run([*address, *command], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


def _wait_for(condition: Callable[[], bool], program: Program) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and program.runs():
        if condition():
            return
        time.sleep(0.2)
    raise AssertionError(f"it does not start: {program.last_words()}")


def _assign_pods(config: Path, over: threading.Event) -> None:
    """What a scheduler would write: with one node there is nothing to choose."""
    client = kubernetes.config.new_client_from_config(str(config), persist_config=False)
    core = kubernetes.client.CoreV1Api(client)
    while not over.wait(0.5):
        for pod in core.list_namespaced_pod("default").items:
            if pod.spec.node_name is None and pod.metadata.deletion_timestamp is None:
                target = {"kind": "Node", "name": NODE}
                name = {"name": pod.metadata.name}
                body = {"metadata": name, "target": target}
                with contextlib.suppress(ApiException):
                    core.create_namespaced_binding("default", body, _preload_content=False)


def _wait_until_ready(node: Node, programs: Sequence[Program]) -> None:
    """The kubelet says so. No controller takes a new node's taints off, nor looks at them."""
    deadline = time.monotonic() + _START_S
    given = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    while time.monotonic() < deadline and all(each.runs() for each in programs):
        with contextlib.suppress(Exception):
            found = node.owner.find(given)
            conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
            if conditions.get("Ready") == "True":
                return
        time.sleep(0.5)
    words = "\n\n".join(each.last_words() for each in programs)
    raise AssertionError(f"the node does not become ready: {words}")
