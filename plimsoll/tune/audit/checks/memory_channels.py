"""19: memory on every node, in every channel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.errors import MachineError
from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.fit.topology import Topology, read_topology
from plimsoll.tune.host.boot.operating_system import CPUINFO, is_virtual_machine
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number

_EDAC = "/sys/devices/system/edac/mc"
_CONTROLLER = re.compile(r"mc\d+", re.ASCII)
_DIMM = re.compile(r"(?:dimm|rank)\d+", re.ASCII)
_CHANNEL = re.compile(r"channel (\d{1,3})(?!\d)", re.ASCII)
_EXPECTED = "memory on each node that has CPUs, in each channel alike"
_GUESTS = (
    "a guest sees the nodes that its hypervisor's firmware tables make up, and no channels: "
    "audit its host"
)


def _judge(view: HostView) -> CheckJudgement:
    try:
        nodes = _nodes(read_topology(view.read))
    except MachineError as error:
        nodes = unknown(f"{error.where}: {error.message}", expected=_EXPECTED)
    if is_virtual_machine(view):
        # A node of CPUs alone is as slow in a guest; the rest is made up for it.
        return nodes if nodes.verdict == "fail" else not_applicable(_GUESTS)
    return worst_of((nodes, *_channels(view)))


def _nodes(topology: Topology) -> CheckJudgement:
    empty = [
        node
        for node, cpus in topology.nodes.items()
        if cpus and not topology.memory_kb.get(node, 0)
    ]
    message = ", ".join(f"node {n}: {kb / 2**20:.1f} GiB" for n, kb in topology.memory_kb.items())
    read = Reading("/sys/devices/system/node/node*/meminfo", message)
    if not any(topology.memory_kb.values()):
        return unknown("the nodes' memory cannot be read", expected=_EXPECTED)
    if empty:
        named = ", ".join(map(str, empty))
        return fail(
            f"node {named} has CPUs and no memory: its every access crosses to another",
            read,
            expected=_EXPECTED,
            steps=[advice(f"put memory into the slots of node {named}")],
        )
    return ok("each node has memory", read, expected=_EXPECTED)


def _channels(view: HostView) -> Iterator[CheckJudgement]:
    controllers = [name for name in view.find_names(_EDAC) if _CONTROLLER.fullmatch(name)]
    for controller in controllers:
        yield _controller(view, controller)
    if not controllers:
        yield unknown("no EDAC driver shows the memory's channels", Reading(_EDAC, "empty"))


def _controller(view: HostView, name: str) -> CheckJudgement:
    folder = f"{_EDAC}/{name}"
    last = _CHANNEL.search(view.find(f"{folder}/max_location") or "")
    sizes = _size_by_channel(view, folder)
    message = ", ".join(f"channel {number}: {mb} MB" for number, mb in sorted(sizes.items()))
    read = Reading(folder, message or "no channels")
    if not sizes or last is None:
        return unknown(f"{name} does not tell its channels", read, expected=_EXPECTED)
    steps = [
        advice(
            f"populate all channels of {name} alike, as the board's manual says; drivers list "
            "as many as a family of processors has, of which some have fewer"
        )
    ]
    if empty := sorted(set(range(int(last[1]) + 1)) - sizes.keys()):
        channels = ", ".join(map(str, empty))
        text = f"{name} has no memory in channel {channels}"
        return warn(text, read, expected=_EXPECTED, steps=steps)
    if len(set(sizes.values())) > 1:
        text = f"{name}'s channels differ in size"
        return warn(text, read, expected=_EXPECTED, steps=steps)
    return ok(f"{name} has memory in all {len(sizes)} channels", read, expected=_EXPECTED)


def _size_by_channel(view: HostView, folder: str) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for name in view.find_names(folder):
        if not _DIMM.fullmatch(name):
            continue
        place = _CHANNEL.search(view.find(f"{folder}/{name}/dimm_location") or "")
        size_mb = whole_number(view.find(f"{folder}/{name}/size"))
        if place and size_mb:
            channel = int(place[1])
            sizes[channel] = sizes.get(channel, 0) + size_mb
    return sizes


CHECK = Check(
    number=19,
    name="memory-channels",
    group="power",
    title="Each node has memory in all its channels",
    reads=(
        CPUINFO,
        *TOPOLOGY,
        f"{_EDAC}/mc[0-9]*/max_location",
        f"{_EDAC}/mc[0-9]*/dimm[0-9]*/dimm_location",
        f"{_EDAC}/mc[0-9]*/dimm[0-9]*/size",
        f"{_EDAC}/mc[0-9]*/rank[0-9]*/dimm_location",
        f"{_EDAC}/mc[0-9]*/rank[0-9]*/size",
    ),
    why=(
        "Addresses alternate between the channels, so that an empty one takes its share of the "
        "bandwidth away, and unequal ones leave a part of memory with fewer channels. Frames "
        "and their buffers pass through memory several times."
    ),
    fix="Put at least one module into each channel, all of the same size.",
    sources=(
        "DPDK, Getting Started Guide for Linux: How to get best performance with NICs",
        "Linux, Documentation/ABI/testing/sysfs-devices-edac",
    ),
    host_rule=_judge,
)
