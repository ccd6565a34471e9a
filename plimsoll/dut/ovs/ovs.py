"""The lab `ovs`: Open vSwitch's userspace datapath without DPDK, between two veth cables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from plimsoll.dut.kernel.kernel_chain import KernelChain, KernelChainSettings
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import WiredForwarder
from plimsoll.dut.lab import DutProcess, Lab, LineRate
from plimsoll.dut.needs import LabNeeds
from plimsoll.dut.ovs.figures import datapath_figures
from plimsoll.dut.ovs.instance import SWITCH, TOOLS, OvsInstance
from plimsoll.dut.ovs.rules import (
    VLAN_LIMIT,
    Installed,
    PushedTags,
    Rules,
    check_rules,
    install,
    rule_facts,
)
from plimsoll.dut.ovs.switch import PORTS, SwitchPortCounts, build_bridge, port_counts
from plimsoll.dut.ovs.vxlan import (
    UNDERLAY,
    VxlanTunnel,
    build_tunnel,
    bytes_added,
    tunnel_facts,
)
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.dut.sight import Hop
from plimsoll.errors import MachineError
from plimsoll.host.cpus import allowed_cpus, format_cpu_list
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake

_DATAPATHS = {"netdev": "userspace datapath (netdev)", "system": "the kernel's datapath (system)"}
_KERNEL_MODULE = Path("/sys/module/openvswitch")


class OvsSettings(KernelChainSettings):
    """Open vSwitch with its datapath in userspace and its own database, without DPDK.

    It opens its ports by AF_PACKET, or by AF_XDP with a polling thread on `cpu`, as `ports` says.
    `rules` are two OpenFlow rules that send each port's frames to the other ("cross"), one by
    which the switch learns MAC addresses ("normal"), or so many rules by IPv4 destination.
    `push_vlan` are tags, outermost first, that are put on what goes from port 0 to port 1 and
    taken off on the way back. With `vxlan` what goes from port 0 to port 1 leaves by a tunnel, and
    what comes back by it is taken out of it. `datapath` is that in userspace
    (netdev), or the kernel's (system), which needs its module. With a `chain` the rules join the
    ports of each of its links.
    """

    summary: ClassVar[str] = "Open vSwitch in userspace without DPDK, on two veth cables; no NIC"
    polling_program: ClassVar[str] = SWITCH.name
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "tun")
    kind: Literal["ovs"] = "ovs"
    ports: Literal["af_packet", "af_xdp"] = "af_packet"
    rules: Rules = "cross"
    push_vlan: PushedTags = ()
    vxlan: VxlanTunnel | None = None
    datapath: Literal["netdev", "system"] = "netdev"

    @model_validator(mode="after")
    def _check_ports(self) -> Self:
        tunnelled = self.vxlan is not None
        check_rules(self.chain, self.rules, self.push_vlan, tunnelled=tunnelled)
        if self.datapath == "system" and self.ports != "af_packet":
            raise mistake("the kernel's datapath opens its ports itself", "remove `ports`")
        if self.chain != "p2p" and self.ports != "af_packet":
            raise mistake(
                "ports to guests are opened by AF_PACKET, as taps and testpmd's cables need it",
                "remove `ports`, or use chain: p2p",
            )
        if self.datapath == "system" and tunnelled:
            raise mistake("tunnels end in the userspace datapath", "use datapath: netdev")
        return self

    @property
    def added_bytes(self) -> int:
        """Of the tags, and of what is around a tunnel's frames."""
        return bytes_added(self.push_vlan, tunnelled=self.vxlan is not None)

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and Open vSwitch's programs."""
        inherited = super().needs()
        return replace(inherited, programs=(*inherited.programs, SWITCH, *TOOLS))

    def check_machine(self) -> LineRate:
        """The same as any cable, and the kernel's datapath where it is to be used."""
        if self.datapath == "system" and not _KERNEL_MODULE.exists():
            raise MachineError(
                "this kernel has no Open vSwitch datapath (openvswitch)",
                where="lab.datapath",
                remedy="modprobe openvswitch, boot a kernel built with it, or use netdev",
            )
        return super().check_machine()

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        chain = self.make_chain(ledger, memory, lifetime)
        return KernelLab(self, self.kind, ledger, UserspaceSwitch(self, ledger, lifetime, chain))


class UserspaceSwitch(WiredForwarder):
    """A bridge of the netdev datapath on the ends of two cables, and on links to guests."""

    def __init__(
        self, settings: OvsSettings, ledger: Ledger, lifetime: Lifetime, chain: KernelChain
    ) -> None:
        super().__init__(settings.wiring(ledger))
        self._settings = settings
        self._ledger = ledger
        self._lifetime: Lifetime = lifetime
        self._chain = chain
        self._switch: OvsInstance | None = None
        self._installed: Installed | None = None

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Lay cables and links, start the switch, give it their ends and its rules; the guests."""
        ends = self.wiring.lay(namespace, mtu)
        self._chain.lay_links(namespace, mtu)
        switch = self._switch = OvsInstance(self._ledger, namespace, self._lifetime)
        cpu = self._settings.cpu
        if self._settings.ports == "af_packet":
            # The main thread forwards.
            switch.start(SWITCH, str(cpu), VLAN_LIMIT)
            interface: tuple[str, ...] = ("type=system",)
        else:
            mask = f"0x{1 << cpu:x}"
            switch.start(
                SWITCH, format_cpu_list(allowed_cpus()), {"pmd-cpu-mask": mask, **VLAN_LIMIT}
            )
            interface = ("type=afxdp", "options:xdp-mode=best-effort")
        ports = self._chain.ports
        interfaces = dict.fromkeys(ports, interface)
        if self._settings.vxlan is None:
            build_bridge(switch, interfaces, self._settings.datapath)
        else:
            build_tunnel(switch, namespace, self._settings.vxlan, interfaces)
        rules, tags = self._settings.rules, self._settings.push_vlan
        self._installed = install(switch, rules, tags, len(ports))
        self._chain.guests.start()
        self._chain.guests.wait_ready()
        return ends

    def rx_interfaces(self) -> tuple[str, ...]:
        """All its ports."""
        return self._chain.ports

    def hops(self, namespace: NetworkNamespace) -> tuple[Hop, ...]:
        """Of a chain with guests."""
        return self._chain.hops(namespace, self.counters(namespace))

    def notes(self) -> tuple[str, ...]:
        """Of the guests."""
        return self._chain.notes()

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """OpenFlow's, and of what did not reach the switch those of the cables."""
        of_ports = super().counters(namespace)
        counted = self._port_counts(self._started())
        return tuple(
            replace(port, rx_packets=counts.rx_packets, tx_packets=counts.tx_packets)
            for port, counts in zip(of_ports, counted, strict=True)
        )

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The datapath, its rules as the switch has them, and its figures so far."""
        switch = self._started()
        return {
            "by": f"Open vSwitch, {_DATAPATHS[self._settings.datapath]}",
            "ports": self._settings.ports,
            **rule_facts(switch, self._installed),
            **({"vxlan": tunnel_facts(switch)} if self._settings.vxlan else {}),
            **({"figures": datapath_figures(switch)} if self._in_userspace else {}),
            **self._chain.facts(),
        }

    def version(self) -> str | None:
        """As the switch says."""
        if self._switch is None:
            return None
        return self._switch.ask("version").splitlines()[0]

    def check(self) -> None:
        """Raise LabDied if database, switch or a guest has ended."""
        if self._switch is not None:
            self._switch.check()
        self._chain.guests.check()

    def processes(self) -> tuple[DutProcess, ...]:
        """The switch and the guests."""
        switch = self._switch.processes if self._switch else ()
        main_forwards = self._in_userspace and self._settings.ports == "af_packet"
        return (
            *(replace(each, main_forwards=main_forwards) for each in switch),
            *self._chain.guests.processes(),
        )

    def stop(self) -> None:
        """End the guests, then switch and database."""
        self._chain.guests.stop()
        if self._switch is not None:
            self._switch.stop()

    def _port_counts(self, switch: OvsInstance) -> tuple[SwitchPortCounts, ...]:
        if self._settings.vxlan is None:
            return port_counts(switch)
        inner, outer = PORTS
        return (*port_counts(switch, (inner,)), *port_counts(switch, (outer,), UNDERLAY))

    @property
    def _in_userspace(self) -> bool:
        return self._settings.datapath == "netdev"

    def _started(self) -> OvsInstance:
        if self._switch is None:
            raise MachineError("the switch is not up", where="lab", remedy="bring the lab up first")
        return self._switch
