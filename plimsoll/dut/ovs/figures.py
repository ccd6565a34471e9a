"""What Open vSwitch's datapaths say of their lookups: which cache had the rule, and upcalls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from plimsoll.dut.ovs.instance import OvsInstance
from plimsoll.dut.sight import Remark

# "emc hits: 12", by which cache a packet's rule was found, and what went to the slow path.
_FIGURE = re.compile(r"^\s+([a-z][a-z /]*[a-z]):\s+(\d+)(?: \(.*\))?$")
_THREAD = re.compile(r"^(\S.*):$")
# "lookups: hit:12 missed:3 lost:0" and the like of a datapath; the cache once it has hits.
_DATAPATH = re.compile(r"^(\S+):$", re.MULTILINE)
_LOOKUPS = re.compile(r"^\s+lookups: hit:(\d+) missed:(\d+) lost:(\d+)$", re.MULTILINE)
_FLOWS = re.compile(r"^\s+flows: (\d+)$", re.MULTILINE)
_MASKS = re.compile(r"^\s+masks: hit:(\d+) total:(\d+) ", re.MULTILINE)
_CACHE = re.compile(r"^\s+cache: hit:(\d+) ", re.MULTILINE)


Datapath = Literal["netdev", "system"]
Figures = dict[str, dict[str, int]]


def datapath_figures(switch: OvsInstance, datapath: Datapath = "netdev") -> Figures:
    """Counts since the switch started: hits of caches and megaflows, upcalls.

    By thread in userspace, by the datapath's name in the kernel. Raises MachineError where the
    switch does not answer.
    """
    if datapath == "system":
        return read_kernel_figures(switch.ask("dpctl/show"))
    return read_figures(switch.ask("dpif-netdev/pmd-stats-show"))


def read_figures(text: str) -> Figures:
    """What `pmd-stats-show` prints, of every thread that it names; averages are left out."""
    found: Figures = {}
    figures: dict[str, int] = {}
    for line in text.splitlines():
        if thread := _THREAD.match(line):
            figures = found.setdefault(thread[1], {})
        elif (figure := _FIGURE.match(line)) and not figure[1].startswith("avg "):
            figures[figure[1]] = int(figure[2])
    return found


def read_kernel_figures(text: str) -> Figures:
    """What `dpctl/show` prints of the kernel's datapaths, by their names ("system@ovs-system").

    Named as `pmd-stats-show` does where the same is counted: hits are those of the cache of masks,
    and those of megaflows without it. A packet that is recirculated is looked up again, which the
    kernel does not count apart.
    """
    headings = list(_DATAPATH.finditer(text))
    ends = [*(each.start() for each in headings[1:]), len(text)]
    return {
        heading[1]: dict(_kernel_figures(text[heading.end() : end]))
        for heading, end in zip(headings, ends, strict=True)
        if heading[1].startswith("system@")
    }


def _kernel_figures(text: str) -> Iterator[tuple[str, int]]:
    by_cache = int(cache[1]) if (cache := _CACHE.search(text)) else 0
    if lookups := _LOOKUPS.search(text):
        hit, missed, lost = (int(each) for each in lookups.groups())
        yield "lookups", hit + missed
        yield "mask cache hits", by_cache
        yield "megaflow hits", hit - by_cache
        # What the kernel had no room for on the way up is among the missed.
        yield "miss with success upcall", missed - lost
        yield "miss with failed upcall", lost
    if flows := _FLOWS.search(text):
        yield "flows", int(flows[1])
    if masks := _MASKS.search(text):
        yield "mask lookups", int(masks[1])
        yield "masks", int(masks[2])


# Of the userspace datapath, and of the kernel's, which counts a recirculated packet again.
_RECEIVED = ("packets received", "lookups")
_ANSWERED, _FAILED = "miss with success upcall", "miss with failed upcall"
# The first packet of each flow is one; beyond this share of all packets it is no start any more.
_STORM_SHARE = 0.01
_STORM_UPCALLS = 1000


def upcall_remarks(before: Figures, after: Figures) -> Iterator[Remark]:
    """Of a trial, between two readings of the figures: a storm, and upcalls that failed."""
    received = sum(_grown(before, after, name) for name in _RECEIVED)
    answered, failed = (_grown(before, after, name) for name in (_ANSWERED, _FAILED))
    upcalls = answered + failed
    least = max(_STORM_UPCALLS, _STORM_SHARE * received)
    if upcalls >= least:
        yield Remark(
            rule="upcalls",
            subject="switch",
            value=upcalls,
            limit=least,
            unit="packets",
            text=f"an upcall storm: {upcalls:,} of the {received:,} packets that the switch "
            "received went to its slow path, which is what it then was measured by",
        )
    if failed:
        yield Remark(
            rule="failed-upcalls",
            subject="switch",
            value=failed,
            limit=0,
            unit="packets",
            text=f"{failed:,} packets were lost because the switch's slow path was not free",
        )


def _grown(before: Figures, after: Figures, name: str) -> int:
    """Over all threads; of one that came in between all counts."""
    return sum(
        figures.get(name, 0) - before.get(thread, {}).get(name, 0)
        for thread, figures in after.items()
    )
