"""A cluster of one node that runs real pods: the first process of its own namespaces.

`python -m tests.integration.cluster.node.first_process FOLDER CGROUP POLICY IMAGE…` brings up API
server, controllers, scheduler, containerd with the images, and kubelet with its CPU manager's
policy. It says "ready", and ends at the end of its input.

Network, mounts and process numbers are this process's own (node.py starts it so), so that all of
it ends with it: what the kubelet and containerd mount, make and start, whatever kills the test.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.integration.cluster.control_plane import (
    WITH_NODES,
    ControlPlane,
    Program,
    control_plane,
    find_parts,
    find_program,
)
from tests.integration.cluster.credentials import LOOPBACK, SERVICE
from tests.integration.cluster.node.cgroups import make_cgroups
from tests.integration.cluster.node.pause_image import write_pause_image
from tests.integration.cluster.node.service_proxy import serve
from tests.integration.cluster.node.settings import (
    ADDRESS,
    CNI_PLUGINS,
    MULTUS,
    NEIGHBOUR,
    NODE,
    containerd_settings,
    kubelet_options,
    kubelet_settings,
    network_settings,
)
from tests.integration.cluster.owner import Owner

OWNER, TESTER = "owner.kubeconfig", "tester.kubeconfig"
READY = "ready"
_LONGEST_START_S = 300.0
# Where programs of the distribution keep what is to end with the node.
_PRIVATE = ("/run", "/var/lib", "/var/log")
# A kubelet sets these unless they are so; they are the whole machine's.
_KERNEL = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


@contextmanager
def node(
    folder: Path, cgroup: str, images: Sequence[Path], *, static: bool
) -> Iterator[ControlPlane]:
    """The cluster, its node ready; `folder` keeps its files, logs and kubeconfigs."""
    _isolate(folder)
    (folder / "plane").mkdir()
    with control_plane(find_parts(), folder / "plane", WITH_NODES) as plane, ExitStack() as stack:
        serve(str(LOOPBACK), plane.port)
        (folder / OWNER).write_text(plane.owners_kubeconfig())
        (folder / TESTER).write_text(plane.kubeconfig_of("tester"))
        programs = [_start(stack, folder / "plane", *each) for each in _rest_of_plane(folder)]
        programs.append(_start_containerd(stack, folder, images))
        programs.append(_start_kubelet(stack, folder, plane, cgroup, static))
        owner = Owner(folder / OWNER)
        _wait_for(lambda: _is_ready(owner), programs)
        yield plane


def _isolate(folder: Path) -> None:
    """Of the machine's own files and settings none is written."""
    for each in _PRIVATE:
        _command("mount", "-t", "tmpfs", "tmpfs", each)
    settings = folder / "kernel"
    settings.mkdir()
    for name, value in _KERNEL.items():
        file = settings / name.replace("/", ".")
        file.write_text(f"{value}\n")
        _command("mount", "--bind", str(file), f"/proc/sys/{name}")
    for words in (
        ("link", "set", "lo", "up"),
        ("link", "add", "node0", "type", "veth", "peer", "name", "node1"),
        ("address", "add", f"{ADDRESS}/24", "dev", "node0"),
        ("link", "set", "node0", "up"),
        ("link", "set", "node1", "up"),
        ("address", "add", f"{SERVICE}/32", "dev", "lo"),
        ("route", "add", "default", "via", NEIGHBOUR, "dev", "node0"),
    ):
        _command("ip", *words)


def _rest_of_plane(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Controllers and scheduler, which serve nothing themselves."""
    alike = [f"--kubeconfig={folder / OWNER}", "--leader-elect=false", "--secure-port=0"]
    keys = ["--root-ca-file=ca.crt", "--service-account-private-key-file=tokens.key"]
    yield "kube-controller-manager", [*alike, *keys]
    yield "kube-scheduler", alike


def _start_containerd(stack: ExitStack, folder: Path, images: Sequence[Path]) -> Program:
    multus = find_program(MULTUS)
    (folder / "plugins").mkdir()
    for plugin in (*CNI_PLUGINS.iterdir(), *([multus] if multus else [])):
        (folder / "plugins" / plugin.name).symlink_to(plugin)
    network = network_settings(folder, folder / OWNER if multus else None)
    (folder / "cni").mkdir()
    (folder / "cni" / "pods.conflist").write_text(json.dumps(network))
    settings = folder / "containerd.toml"
    settings.write_text(containerd_settings(folder))
    containerd = _start(stack, folder, "containerd", ["--config", str(settings)])
    socket = folder / "containerd.sock"
    _wait_for(socket.exists, [containerd])
    for image in (*images, write_pause_image(folder)):
        _command(
            *("ctr", "--address", str(socket), "--namespace", "k8s.io", "images", "import"),
            str(image),
        )
    return containerd


def _start_kubelet(
    stack: ExitStack, folder: Path, plane: ControlPlane, cgroup: str, static: bool
) -> Program:
    make_cgroups(cgroup)
    config = folder / "node.kubeconfig"
    config.write_text(plane.kubeconfig_of(f"system:node:{NODE}", "system:nodes"))
    settings = kubelet_settings(folder, folder / "plane" / "ca.crt", cgroup, static)
    (folder / "kubelet.json").write_text(json.dumps(settings))
    return _start(stack, folder, "kubelet", kubelet_options(folder, config))


def _start(stack: ExitStack, folder: Path, name: str, options: Sequence[str]) -> Program:
    path = find_program(name)
    assert path is not None, f"there is no {name}"
    program = Program(folder, path, list(options))
    stack.callback(program.end)
    return program


def _is_ready(owner: Owner) -> bool:
    """The kubelet says so, and the controllers have taken off a new node's taints."""
    found = owner.find_if_there({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    return found is not None and _condition(found) == "True" and not found["spec"].get("taints")


def _condition(node: Mapping[str, Any]) -> str | None:
    conditions = node["status"].get("conditions") or ()
    return next((each["status"] for each in conditions if each["type"] == "Ready"), None)


def _wait_for(condition: Callable[[], bool], programs: Sequence[Program]) -> None:
    deadline = time.monotonic() + _LONGEST_START_S
    while time.monotonic() < deadline and all(each.runs() for each in programs):
        if condition():
            return
        time.sleep(0.2)
    words = "\n\n".join(each.last_words() for each in programs)
    raise AssertionError(f"the node does not become ready: {words}")


def _command(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"


def main(arguments: Sequence[str]) -> None:
    folder, cgroup, policy, *images = arguments
    with node(Path(folder), cgroup, [Path(each) for each in images], static=policy == "static"):
        print(READY, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
