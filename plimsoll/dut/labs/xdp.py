"""The lab `xdp`: an XDP program that redirects frames between two cables, before the stack."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder, WiredForwarder, WiredSettings
from plimsoll.dut.kernel.wiring import Wiring
from plimsoll.dut.lab import Lab
from plimsoll.dut.needs import LabNeeds, Library
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.errors import MachineError
from plimsoll.host.bpf.libbpf import LIBRARY, PACKAGE, XDP_GENERIC, XDP_NATIVE, has_libbpf
from plimsoll.host.bpf.xdp_redirect import XdpCounts, redirect_all
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace, run_within
from plimsoll.host.ports.ethtool import turn_on_receive_offload
from plimsoll.host.processes.child import Lifetime

XdpMode = Literal["native", "generic"]
_FLAGS: dict[XdpMode, int] = {"native": XDP_NATIVE, "generic": XDP_GENERIC}
# As iproute2 says it: XDP_ATTACHED_DRV and XDP_ATTACHED_SKB of linux/if_link.h.
_ATTACHED = {1: "native", 2: "generic"}
# In bytes with FCS: a veth's XDP in native mode has a page for a frame, less what it puts
# around it, and the tester's AF_XDP no more than that (docs/ports.md).
_LARGEST_FRAME = 3396
_PROC = Path("/proc")


class XdpSettings(WiredSettings):
    """An XDP program of Plimsoll's own on either port, which redirects all frames to the other.

    `mode` says where it runs: `native`, in the driver (veth's), before the kernel makes an skb of
    a frame; or `generic`, in the kernel's stack, as on interfaces whose driver has no XDP.
    """

    summary: ClassVar[str] = "XDP redirect between two veth cables, native or generic; no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "BPF", "XDP")
    largest_frame_size: ClassVar[int] = _LARGEST_FRAME
    kind: Literal["xdp"] = "xdp"
    mode: XdpMode = "native"
    frame_size: int = Field(default=1518, ge=64, le=_LARGEST_FRAME)

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and libbpf; no compiler."""
        return replace(
            super().needs(),
            programs=(*super().needs().programs, Library(LIBRARY, PACKAGE, has_libbpf)),
        )

    def forwarder(self, ledger: Ledger) -> Forwarder:
        """The program on both ports."""
        return XdpRedirect(self.wiring(ledger), self.mode, self.cpu)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder(ledger))


class XdpRedirect(WiredForwarder):
    """A program on each port. It goes with its interface, and so with the namespace."""

    def __init__(self, wiring: Wiring, mode: XdpMode, cpu: int) -> None:
        super().__init__(wiring)
        self._mode: XdpMode = mode
        self._cpu = cpu
        self._ports: tuple[str, ...] = ()
        self._counts: tuple[XdpCounts, ...] = ()

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Lay the cables, load the programs, and have them run on the lab's CPU."""
        self._ports = tuple(namespace.dut_end(port) for port in (0, 1))
        ends = self.wiring.lay(namespace, mtu, self._ports)
        if self._mode == "native" and self.wiring.in_memory:
            # What an XDP program sends to a veth's end is taken there by NAPI, as with GRO on.
            for end in ends:
                _receive_by_napi(str(end.netdev))
        self._counts = run_within(namespace.path, self._load)
        if self._mode == "native":
            self._poll_on_cpu(namespace)
        return ends

    def rx_interfaces(self) -> tuple[str, ...]:
        """Both ports in generic mode; native XDP runs before receive packet steering."""
        return self._ports if self._mode == "generic" else ()

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """Frames in are those that the program counted, frames out those of the interfaces."""
        of_ports = super().counters(namespace)
        return tuple(
            replace(port, rx_packets=sum(counts.read().values()))
            for port, counts in zip(of_ports, self._counts, strict=True)
        )

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The programs as the kernel has them, and what they have decided so far."""
        programs = [_program_on(namespace, port) for port in self._ports]
        actions = [counts.read() for counts in self._counts]
        return {
            "by": f"XDP redirect, {self._mode} mode",
            "ports": {
                port: {**program, "actions": counted}
                for port, program, counted in zip(self._ports, programs, actions, strict=True)
            },
        }

    def stop(self) -> None:
        """Let go of the programs' maps."""
        for counts in self._counts:
            counts.close()
        self._counts = ()

    def _load(self) -> tuple[XdpCounts, ...]:
        """Within the namespace."""
        indexes = [socket.if_nametoindex(port) for port in self._ports]
        flags = _FLAGS[self._mode]
        for port, index, out in zip(self._ports, indexes, reversed(indexes), strict=True):
            redirect_all(port, index, out, flags)
        return tuple(_counts_of(index) for index in indexes)

    def _poll_on_cpu(self, namespace: NetworkNamespace) -> None:
        """Have threads poll the ports, and pin them: else it is on the CPU of who sent."""
        for port in self._ports:
            namespace.write("1", f"/sys/class/net/{port}/threaded")
            threads = napi_threads(port)
            if not threads:
                raise MachineError(
                    f"no thread of the kernel's is seen that polls {port}",
                    where="lab.mode",
                    remedy="run outside of a container, on Linux 5.12 or newer, or use generic",
                )
            for thread in threads:
                os.sched_setaffinity(thread, {self._cpu})


def _counts_of(index: int) -> XdpCounts:
    counts = XdpCounts.of_interface(index)
    if counts is None:
        raise MachineError(
            "the XDP program is not where it was put",
            where="lab",
            remedy="find out what takes it off, and start again",
        )
    return counts


def _program_on(namespace: NetworkNamespace, port: str) -> dict[str, object]:
    """The kernel's description: mode, id, tag (a hash of the instructions), whether compiled."""
    (link,) = namespace.objects("link", "show", "dev", port)
    xdp = link.get("xdp")
    if not isinstance(xdp, dict):
        return {"mode": None}
    program = xdp.get("prog", {})
    return {
        "mode": _ATTACHED.get(xdp.get("mode", 0)),
        **{name: program.get(name) for name in ("id", "tag", "jited")},
    }


def _receive_by_napi(end: str) -> None:
    if not turn_on_receive_offload(end):
        raise MachineError(
            f"{end} refuses GRO, without which it takes nothing from native XDP",
            where="lab.mode",
            remedy="use Linux 5.13 or newer, or the generic mode",
        )


# The kernel's threads that poll an interface for frames, where it is set to be polled by such.
def napi_threads(interface: str, proc: Path = _PROC) -> tuple[int, ...]:
    """The threads of an interface whose name no other of the machine has, by number.

    The kernel calls them napi/<interface>-<number>, in whatever namespace the interface is.
    None are found within a PID namespace (a container), where the kernel's are not shown.
    """
    found = []
    for entry in proc.glob("[0-9]*"):
        try:
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue
        if name.rpartition("-")[0] == f"napi/{interface}":
            found.append(int(entry.name))
    return tuple(sorted(found))


LAB = XdpSettings
