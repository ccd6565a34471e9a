"""A cluster that runs real pods: the first process of its own namespaces.

`python -m tests.integration.cluster.node.first_process FOLDER CGROUP POLICY NODES IMAGE…` brings up
API server, controllers, scheduler, and on each node containerd with the images and a kubelet, the
first one's with its CPU manager's policy. It says "ready", and ends at the end of its input.

Network, mounts and process numbers are this process's own (node.py starts it so), so that all of
it ends with it: what kubelets and containerd mount, make and start, whatever kills the test. A
second node has a network and mounts of its own below these.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.cluster.control_plane import (
    ROOT,
    WITH_NODES,
    ControlPlane,
    control_plane,
    find_parts,
)
from tests.integration.cluster.credentials import LOOPBACK, SERVICE
from tests.integration.cluster.node.kubelet import (
    NodeFiles,
    command,
    isolate,
    start,
    start_kubelet,
    wait_for,
)
from tests.integration.cluster.node.second_process import APART
from tests.integration.cluster.node.service_proxy import serve
from tests.integration.cluster.node.settings import INTERFACE, NodePlan
from tests.integration.cluster.owner import Owner

OWNER, TESTER = "owner.kubeconfig", "tester.kubeconfig"
READY = "ready"
_FIRST, _SECOND = NodePlan(1), NodePlan(2)
# The other end of the first node's cable.
_FAR_END = "node1"


@contextmanager
def nodes(
    folder: Path, cgroup: str, images: Sequence[Path], count: int, *, static: bool
) -> Iterator[ControlPlane]:
    """The cluster, its nodes ready; `folder` keeps its files, logs and kubeconfigs."""
    isolate(folder)
    _make_network()
    (folder / "plane").mkdir()
    with control_plane(find_parts(), folder / "plane", WITH_NODES) as plane, ExitStack() as stack:
        serve(str(LOOPBACK), plane.port)
        files = _files(folder, cgroup, plane, _FIRST, images)
        (folder / TESTER).write_text(plane.kubeconfig_of("tester"))
        programs = [start(stack, folder / "plane", *each) for each in _rest_of_plane(folder)]
        programs += start_kubelet(stack, files, _FIRST, static=static)
        if count > 1:
            _start_second(stack, folder, cgroup, plane, images)
        owner = Owner(folder / OWNER)
        for plan in (_FIRST, _SECOND)[:count]:
            wait_for(lambda name=plan.name: _is_ready(owner, name), programs)
        yield plane


def _make_network() -> None:
    for words in (
        ("link", "set", "lo", "up"),
        ("link", "add", INTERFACE, "type", "veth", "peer", "name", _FAR_END),
        ("address", "add", f"{_FIRST.address}/24", "dev", INTERFACE),
        ("link", "set", INTERFACE, "up"),
        ("link", "set", _FAR_END, "up"),
        ("address", "add", f"{SERVICE}/32", "dev", "lo"),
        # To where a second node is, if there is one.
        ("route", "add", "default", "via", _SECOND.address, "dev", INTERFACE),
    ):
        command("ip", *words)


def _files(
    folder: Path, cgroup: str, plane: ControlPlane, plan: NodePlan, images: Sequence[Path]
) -> NodeFiles:
    """Of a node whose folder it is, its kubeconfigs written."""
    files = NodeFiles(
        *(folder, cgroup, folder / "ca.crt", folder / "node.kubeconfig", folder / OWNER), images
    )
    files.authority.write_bytes(plane.authority.certificate)
    files.node.write_text(plane.kubeconfig_of(f"system:node:{plan.name}", "system:nodes"))
    files.owner.write_text(plane.owners_kubeconfig())
    return files


def _start_second(
    stack: ExitStack, folder: Path, cgroup: str, plane: ControlPlane, images: Sequence[Path]
) -> None:
    own = folder / _SECOND.name
    own.mkdir()
    reached = replace(plane, url=f"https://{SERVICE}:443")
    files = _files(own, f"{cgroup}-{_SECOND.number}", reached, _SECOND, images)
    paths = (files.authority, files.node, files.owner, *files.images)
    arguments = (str(_SECOND.number), str(own), files.cgroup, *map(str, paths))
    module = (sys.executable, "-m", "tests.integration.cluster.node.second_process", *arguments)
    apart = ("unshare", "--net", "--mount", "--propagation", "private", *module)
    process = stack.enter_context(
        subprocess.Popen(
            with_parent_death_signal(apart),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    )
    stack.callback(process.kill)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline().strip() == APART
    command("ip", "link", "set", _FAR_END, "netns", str(process.pid), "name", INTERFACE)
    process.stdin.write("joined\n")
    process.stdin.flush()


def _rest_of_plane(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Controllers and scheduler, which serve nothing themselves."""
    alike = [f"--kubeconfig={folder / OWNER}", "--leader-elect=false", "--secure-port=0"]
    keys = ["--root-ca-file=ca.crt", "--service-account-private-key-file=tokens.key"]
    yield "kube-controller-manager", [*alike, *keys]
    yield "kube-scheduler", alike


def _is_ready(owner: Owner, name: str) -> bool:
    """The kubelet says so, and the controllers have taken off a new node's taints."""
    found = owner.find_if_there({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    return found is not None and _condition(found) == "True" and not found["spec"].get("taints")


def _condition(node: Mapping[str, Any]) -> str | None:
    conditions = node["status"].get("conditions") or ()
    return next((each["status"] for each in conditions if each["type"] == "Ready"), None)


def main(arguments: Sequence[str]) -> None:
    folder, cgroup, policy, count, *images = arguments
    paths = [Path(each) for each in images]
    with nodes(Path(folder), cgroup, paths, int(count), static=policy == "static"):
        print(READY, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
