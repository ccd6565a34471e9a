"""A further node of the same cluster: the first process of its own network and mounts.

`python -m tests.integration.cluster.node.second_process NUMBER FOLDER CGROUP AUTHORITY NODE OWNER
IMAGE…` says "apart" once it has a network of its own, reads a line once it has its end of a cable
there, starts containerd and a kubelet, and ends at the end of its input.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.integration.cluster.credentials import SERVICE
from tests.integration.cluster.node.kubelet import NodeFiles, command, isolate, start_kubelet
from tests.integration.cluster.node.settings import INTERFACE, NodePlan

APART = "apart"
_FIRST = NodePlan(1)


def main(arguments: Sequence[str]) -> None:
    """Be that node."""
    number, folder, cgroup, authority, node, owner, *images = arguments
    plan = NodePlan(int(number))
    print(APART, flush=True)
    sys.stdin.readline()
    files = NodeFiles(
        *(Path(folder), cgroup, Path(authority), Path(node), Path(owner)),
        images=[Path(each) for each in images],
    )
    isolate(files.folder)
    for words in (
        ("link", "set", "lo", "up"),
        ("address", "add", f"{plan.address}/24", "dev", INTERFACE),
        ("link", "set", INTERFACE, "up"),
        ("route", "add", f"{SERVICE}/32", "via", _FIRST.address),
        ("route", "add", "default", "via", _FIRST.address),
    ):
        command("ip", *words)
    with ExitStack() as stack:
        start_kubelet(stack, files, plan, static=False)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
