"""The lab `ovs`: Open vSwitch without DPDK, in userspace or in the kernel, between two cables."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from plimsoll.dut.kernel.kernel_chain import KernelChain, KernelChainSettings
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import WiredForwarder
from plimsoll.dut.lab import DutProcess, Lab, LineRate
from plimsoll.dut.needs import LabNeeds, check_option
from plimsoll.dut.ovs.figures import Datapath, Figures, datapath_figures, upcall_remarks
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
    build_kernel_tunnel,
    build_tunnel,
    bytes_added,
    kernel_tunnel_facts,
    tunnel_facts,
)
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.dut.sight import DutObservation, Hop, SightEnd
from plimsoll.errors import MachineError
from plimsoll.host.cpus import allowed_cpus, format_cpu_list
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake

_DATAPATHS = {"netdev": "userspace datapath (netdev)", "system": "the kernel's datapath (system)"}
_KERNEL_DATAPATH = KernelOption("OPENVSWITCH", "openvswitch", "Open vSwitch datapath")
_KERNEL_TUNNELS = KernelOption("VXLAN", "vxlan", "VXLAN tunnels")


class OvsSettings(KernelChainSettings):
    """Open vSwitch with its own database, without DPDK.

    It opens its ports by AF_PACKET, or by AF_XDP with a polling thread on `cpu`, as `ports` says.
    `rules` are two OpenFlow rules that send each port's frames to the other ("cross"), one by
    which the switch learns MAC addresses ("normal"), or so many rules by IPv4 destination.
    `push_vlan` are tags, outermost first, that are put on what goes from port 0 to port 1 and
    taken off on the way back. With `vxlan` what goes from port 0 to port 1 leaves by a tunnel, and
    what comes back by it is taken out of it. `datapath` is that in userspace (netdev), or the
    kernel's (system), which needs its module and opens ports by itself. With a `chain` the rules
    join the ports of each of its links.
    """

    summary: ClassVar[str] = "Open vSwitch in userspace without DPDK, on two veth cables; no NIC"
    polling_program: ClassVar[str] = SWITCH.name
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "tun")
    kind: Literal["ovs"] = "ovs"
    ports: Literal["af_packet", "af_xdp"] = "af_packet"
    rules: Rules = "cross"
    push_vlan: PushedTags = ()
    vxlan: VxlanTunnel | None = None
    datapath: Datapath = "netdev"

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
        return self

    @property
    def added_bytes(self) -> int:
        """Of the tags, and of what is around a tunnel's frames."""
        return bytes_added(self.push_vlan, tunnelled=self.vxlan is not None)

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and Open vSwitch's programs."""
        inherited = super().needs()
        return replace(
            inherited,
            programs=(*inherited.programs, SWITCH, *TOOLS),
            for_settings=(
                *inherited.for_settings,
                ("datapath system", _KERNEL_DATAPATH),
                ("datapath system with vxlan", _KERNEL_TUNNELS),
            ),
        )

    def check_machine(self) -> LineRate:
        """The same as any cable, and the kernel's datapath where it is to be used."""
        if self.datapath == "system":
            check_option(_KERNEL_DATAPATH, "lab.datapath")
            if self.vxlan is not None:
                check_option(_KERNEL_TUNNELS, "lab.vxlan")
        return super().check_machine()

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        chain = self.make_chain(ledger, memory, lifetime)
        return KernelLab(self, self.kind, ledger, OvsForwarder(self, ledger, lifetime, chain))


class OvsForwarder(WiredForwarder):
    """A bridge on the ends of two cables, and on links to guests, of either datapath."""

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
            # In userspace the main thread forwards.
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
        tunnel = self._settings.vxlan
        if tunnel is None:
            build_bridge(switch, interfaces, self._settings.datapath)
        elif self._in_userspace:
            build_tunnel(switch, namespace, tunnel, interfaces)
        else:
            build_kernel_tunnel(switch, namespace, tunnel, interfaces, mtu)
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

    def start_observation(self, namespace: NetworkNamespace) -> SightEnd:
        """Read the hops and the slow path's counts before a trial; the end reads them after."""
        end_hops, before = super().start_observation(namespace), self._figures()

        def end() -> DutObservation:
            return replace(end_hops(), remarks=tuple(upcall_remarks(before, self._figures())))

        return end

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The datapath, its rules as the switch has them, and its figures so far."""
        switch = self._started()
        return {
            "by": f"Open vSwitch, {_DATAPATHS[self._settings.datapath]}",
            **({"ports": self._settings.ports} if self._in_userspace else {}),
            "datapath": [line.strip() for line in switch.ask("dpif/show").splitlines()],
            **rule_facts(switch, self._installed),
            **({"vxlan": self._tunnel_facts(namespace)} if self._settings.vxlan else {}),
            "figures": self._figures(),
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

    def _tunnel_facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        if self._in_userspace:
            return tunnel_facts(self._started())
        return kernel_tunnel_facts(self._started(), namespace)

    def _figures(self) -> Figures:
        return datapath_figures(self._started(), self._settings.datapath)

    @property
    def _in_userspace(self) -> bool:
        return self._settings.datapath == "netdev"

    def _started(self) -> OvsInstance:
        if self._switch is None:
            raise MachineError("the switch is not up", where="lab", remedy="bring the lab up first")
        return self._switch


LAB = OvsSettings
