"""One node: files and settings of its own, containerd with its images, and a kubelet."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.integration.cluster.control_plane import Program, find_program
from tests.integration.cluster.node.cgroups import make_cgroups
from tests.integration.cluster.node.pause_image import write_pause_image
from tests.integration.cluster.node.settings import (
    CNI_PLUGINS,
    MULTUS,
    NodePlan,
    containerd_settings,
    kubelet_options,
    kubelet_settings,
    network_settings,
)

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


@dataclass(frozen=True)
class NodeFiles:
    """What a node is made of: `folder` is its own; the others are there already.

    `node` and `owner` are kubeconfigs, of the kubelet and of one who may do everything.
    """

    folder: Path
    cgroup: str
    authority: Path
    node: Path
    owner: Path
    images: Sequence[Path]


def isolate(folder: Path) -> None:
    """Of the machine's own files and settings none is written."""
    for each in _PRIVATE:
        command("mount", "-t", "tmpfs", "tmpfs", each)
    settings = folder / "kernel"
    settings.mkdir()
    for name, value in _KERNEL.items():
        file = settings / name.replace("/", ".")
        file.write_text(f"{value}\n")
        command("mount", "--bind", str(file), f"/proc/sys/{name}")


def start_kubelet(
    stack: ExitStack, files: NodeFiles, plan: NodePlan, *, static: bool
) -> list[Program]:
    """containerd and the kubelet, which end with the stack."""
    containerd = _start_containerd(stack, files, plan)
    make_cgroups(files.cgroup)
    settings = kubelet_settings(files.folder, plan, files.authority, files.cgroup, static=static)
    (files.folder / "kubelet.json").write_text(json.dumps(settings))
    options = kubelet_options(files.folder, plan, files.node)
    return [containerd, start(stack, files.folder, "kubelet", options)]


def _start_containerd(stack: ExitStack, files: NodeFiles, plan: NodePlan) -> Program:
    folder = files.folder
    multus = find_program(MULTUS)
    (folder / "plugins").mkdir()
    for plugin in (*CNI_PLUGINS.iterdir(), *([multus] if multus else [])):
        (folder / "plugins" / plugin.name).symlink_to(plugin)
    network = network_settings(folder, plan, files.owner if multus else None)
    (folder / "cni").mkdir()
    (folder / "cni" / "pods.conflist").write_text(json.dumps(network))
    settings = folder / "containerd.toml"
    settings.write_text(containerd_settings(folder))
    containerd = start(stack, folder, "containerd", ["--config", str(settings)])
    socket = folder / "containerd.sock"
    wait_for(socket.exists, [containerd])
    for image in (*files.images, write_pause_image(folder)):
        command(
            *("ctr", "--address", str(socket), "--namespace", "k8s.io", "images", "import"),
            str(image),
        )
    return containerd


def start(stack: ExitStack, folder: Path, name: str, options: Sequence[str]) -> Program:
    """A program that runs in a folder, and ends with the stack."""
    path = find_program(name)
    assert path is not None, f"there is no {name}"
    program = Program(folder, path, list(options))
    stack.callback(program.end)
    return program


def wait_for(condition: Callable[[], bool], programs: Sequence[Program]) -> None:
    """Until it is so; fails with the last words of all where one of them has ended."""
    deadline = time.monotonic() + _LONGEST_START_S
    while time.monotonic() < deadline and all(each.runs() for each in programs):
        if condition():
            return
        time.sleep(0.2)
    words = "\n\n".join(each.last_words() for each in programs)
    raise AssertionError(f"the node does not become ready: {words}")


def command(*words: str) -> None:
    """Run it; it must not fail."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
