"""The intent's generator: its CPUs, and TRex's configuration where TRex it is."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from plimsoll.text.counted import counted
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.cpu_list import CpuListField, IpAddressText
from plimsoll.tune.intent.fields.section import Listed, Section, Text
from plimsoll.tune.intent.nic import PciAddress

_Thread = Annotated[int, Field(ge=0, le=8191)]


class TrexPort(Section):
    """One port: its PCI address, and what TRex answers to and sends to at layer 3."""

    pci: PciAddress
    """The port's PCI address, in quotes: "0000:87:00.0"."""
    ip: IpAddressText
    """The IP address that TRex answers ARP for on the port."""
    default_gw: IpAddressText
    """The IP address that it sends to, whose MAC address it asks for by ARP."""


class TrexDualIf(Section):
    """The worker threads of one pair of ports, by CPU, on one socket; the order is TRex's."""

    socket: Annotated[int, Field(ge=0, le=1023)]
    """The CPU socket (NUMA node) of the pair's ports."""
    threads: Annotated[Listed[_Thread], Field(min_length=1)]
    """The CPUs of the pair's worker threads, as the kernel numbers them."""


class Trex(Section):
    """trex_cfg.yaml, version 2, and the command line."""

    ports: Annotated[Listed[TrexPort], Field(min_length=2)]
    """The ports in TRex's order: each two are a pair."""
    dual_if: Annotated[Listed[TrexDualIf], Field(min_length=1)]
    """Socket and worker threads, one entry for each pair of ports, in the ports' order."""
    master_thread: _Thread
    """The CPU of the thread that controls, as the kernel numbers it."""
    latency_thread: _Thread
    """The CPU of the thread that measures latency, as the kernel numbers it."""
    limit_memory_mb: Annotated[int, Field(ge=1)] | None = None
    """What TRex takes of the hugepages at most, in MB; left out, TRex's default."""
    port_bandwidth_gb: Annotated[int, Field(ge=1, le=1600)] | None = None
    """A port's bandwidth in Gbps, by which TRex sizes its buffers; left out, TRex's default."""
    arguments: Annotated[Listed[Text], NotRun("rendered into a command to copy")] = ()
    """Further arguments of its command line, in order."""

    @property
    def threads_per_pair(self) -> int:
        """TRex's `c`: worker threads for each pair of ports."""
        return len(self.dual_if[0].threads)

    @property
    def cpus(self) -> frozenset[int]:
        """Every CPU that it polls on."""
        workers = {thread for pair in self.dual_if for thread in pair.threads}
        return frozenset({*workers, self.master_thread, self.latency_thread})

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        """TRex numbers ports in pairs and has one count of threads for all."""
        if len(self.ports) != 2 * len(self.dual_if):
            raise mistake(
                f"{len(self.ports)} ports are not {counted(len(self.dual_if), 'pair')}",
                "give two ports for each entry of dual_if",
                "ports",
            )
        for place, pair in enumerate(self.dual_if):
            if len(pair.threads) != self.threads_per_pair:
                raise mistake(
                    f"found {len(pair.threads)} threads, the first pair has "
                    f"{self.threads_per_pair}",
                    "give each pair the same number of threads",
                    "dual_if",
                    place,
                    "threads",
                )
        return self

    @model_validator(mode="after")
    def _check_once(self) -> Self:
        if self.latency_thread == self.master_thread:
            raise mistake(
                f"CPU {self.master_thread} is the master thread's",
                "give each thread a CPU of its own",
                "latency_thread",
            )
        taken = {self.master_thread, self.latency_thread}
        for place, pair in enumerate(self.dual_if):
            for number, thread in enumerate(pair.threads):
                if thread in taken:
                    raise mistake(
                        f"CPU {thread} is given twice",
                        "give each thread a CPU of its own",
                        "dual_if",
                        place,
                        "threads",
                        number,
                    )
                taken.add(thread)
        return self


class TrexGenerator(Section):
    """The CPUs that make the load; left out, TRex's own."""

    cpus: CpuListField | None = None
    """Every CPU that the generator polls on, as the kernel lists CPUs; left out, TRex's."""
    trex: Trex | None = None
    """TRex's own configuration (trex_cfg.yaml); left out, none is rendered."""

    @property
    def polling_cpus(self) -> frozenset[int]:
        """Every CPU that the generator is to have for itself."""
        if self.cpus is not None:
            return self.cpus.cpus
        return self.trex.cpus if self.trex else frozenset()

    @model_validator(mode="after")
    def _check_own(self) -> Self:
        if self.cpus and self.trex and not self.trex.cpus <= self.cpus.cpus:
            outside = min(self.trex.cpus - self.cpus.cpus)
            raise mistake(
                f"TRex's CPU {outside} is not among them",
                "name every CPU of trex, or leave cpus out",
                "cpus",
            )
        return self
