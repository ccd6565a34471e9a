"""The lab `ovs-dpdk`: Open vSwitch with DPDK between vhost-user ports or network cards."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.guest.chain import (
    ChainSettings,
    Cpu,
    chain_hops,
    guest_ports,
    sharing_note,
    switch_ports,
)
from plimsoll.dut.guest.guest import GuestPlace
from plimsoll.dut.guest.guest_ports import USUAL_MBUF_BYTES, GuestPorts, VhostUserPorts
from plimsoll.dut.lab import (
    DutPortCounters,
    DutProcess,
    Lab,
    LabPorts,
    LineRate,
    LinkWatch,
)
from plimsoll.dut.needs import NAMESPACE_CAPABILITIES, LabNeeds, NeededProgram
from plimsoll.dut.ovs.figures import datapath_figures, upcall_remarks
from plimsoll.dut.ovs.instance import TOOLS, OvsInstance
from plimsoll.dut.ovs.rules import (
    VLAN_LIMIT,
    Installed,
    PushedTags,
    Rules,
    check_rules,
    install,
    joins_ports,
    rule_facts,
)
from plimsoll.dut.ovs.switch import PORTS, build_bridge, cross_counts, port_drops
from plimsoll.dut.ovs.vxlan import (
    UNDERLAY,
    VxlanTunnel,
    build_tunnel,
    bytes_added,
    outer_counts,
    tunnel_facts,
)
from plimsoll.dut.sight import DutObservation, Hop, SightEnd, grown
from plimsoll.dut.two_ports import PATHS
from plimsoll.dut.userspace.program_ports import CardPorts
from plimsoll.dut.wired import PassiveLab
from plimsoll.errors import MachineError
from plimsoll.host.cpus import allowed_cpus, check_cpus, format_cpu_list
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime, wait_until
from plimsoll.text.mistakes import mistake

# Debian and Ubuntu have it next to the switch without DPDK, and call it so.
SWITCH = NeededProgram(
    "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk", "openvswitch-switch-dpdk"
)
_POLL_S = 0.1
# With memory of its own each port has some 18,500 mbufs: 16384 (MIN_NB_MBUF of
# netdev-dpdk.c) and those of its queues. Without hugepages an mbuf takes a page of 4 kB,
# because none may cross one; DPDK itself takes the rest.
_MEGABYTES, _PORT_MEGABYTES = 56, 76


class OvsDpdkSettings(ChainSettings):
    """Open vSwitch with DPDK and its own database, between two vhost-user ports, or on `cards`.

    One PMD thread polls all ports on `cpu`, or one on each of `pmd_cpus`. `rules`,
    `push_vlan` and `vxlan` as in the lab `ovs`. `ring_size` is that of the tester's virtio-user
    ports, in frames, which have 1518 bytes at most. `emc_probability` is 1/N by which a flow
    enters the exact match cache (0: never; Open vSwitch's own is 100), `smc` turns on the
    signature match cache.
    """

    summary: ClassVar[str] = "Open vSwitch with DPDK between two vhost-user ports; needs no NIC"
    can_stand: ClassVar[bool] = True
    polling_program: ClassVar[str] = "ovs-vswitchd"
    cannot_reset: ClassVar[str | None] = (
        "Open vSwitch holds the sockets that the tester's ports hang on, so their links end "
        "with it, and a trial ends with its links"
    )

    largest_frame_size: ClassVar[int] = 1518

    kind: Literal["ovs-dpdk"] = "ovs-dpdk"
    guest: Literal["testpmd", "vm"] = "testpmd"
    pmd_cpus: tuple[Cpu, ...] = ()
    rules: Rules = "cross"
    push_vlan: PushedTags = ()
    vxlan: VxlanTunnel | None = None
    ring_size: Literal[256, 512, 1024] = 1024
    cards: DpdkCards | None = None
    emc_probability: int = Field(default=100, ge=0, le=4294967295)
    smc: bool = False

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        tunnelled = self.vxlan is not None
        check_rules(self.chain, self.rules, self.push_vlan, tunnelled=tunnelled)
        if len(set(self.pmd_cpus)) != len(self.pmd_cpus):
            raise mistake("pmd_cpus names a CPU twice", "name each CPU once")
        return self

    @property
    def rules_count(self) -> bool:
        """Whether each port has one rule, whose counter says by which port its frames left."""
        return joins_ports(self.rules, self.push_vlan)

    @property
    def added_bytes(self) -> int:
        """Of the tags, and of what is around a tunnel's frames."""
        return bytes_added(self.push_vlan, tunnelled=self.vxlan is not None)

    @classmethod
    def needs(cls) -> LabNeeds:
        """Open vSwitch with DPDK, a CPU that it polls, and root for its namespace."""
        return LabNeeds(
            NAMESPACE_CAPABILITIES,
            ("tun",),
            (SWITCH, *TOOLS),
            1,
            hugepages=True,
            programs_of_settings=cls.programs_of_guests,
            loops_of_settings=(("chain: pvp", 2), ("chain: pvvp", 3)),
        )

    @property
    def megabytes(self) -> int:
        """For DPDK itself, the mbufs of all ports, and the guests, in MB."""
        return self.switch_megabytes + self.guest_megabytes

    @property
    def guest_mbuf_bytes(self) -> int:
        """DPDK's own, for frames of usual length."""
        return USUAL_MBUF_BYTES

    def guest_ports(self, ledger: Ledger, place: GuestPlace) -> GuestPorts:
        """Sockets on which the guest listens."""
        first, second = (_guest_socket(ledger, name) for name in guest_ports(place.number))
        return VhostUserPorts((first, second), self.ring_size)

    @property
    def switch_megabytes(self) -> int:
        """That of the switch alone."""
        return _MEGABYTES + _PORT_MEGABYTES * len(switch_ports(self.chain))

    @property
    def switch_cpus(self) -> tuple[int, ...]:
        """Those of the PMD threads."""
        return self.pmd_cpus or (self.cpu,)

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """Those of the PMD threads and of guests' loops, each once."""
        place = "lab.pmd_cpus" if self.pmd_cpus else "lab.cpu"
        polled = dict.fromkeys(self.cpus_guests_poll, "lab.guest_cpus")
        polled |= dict.fromkeys(self.switch_cpus, place)
        return tuple((place, cpu) for cpu, place in sorted(polled.items()))

    def check_machine(self) -> LineRate:
        """Whether the switch is installed and this user may make its namespace."""
        self.needs().check()
        self.check_guests_can_start()
        if self.cards is not None:
            return self.cards.check_machine(self.line_rate_bps)
        return LineRate(self.line_rate_bps)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return OvsDpdkLab(self, ledger, memory, lifetime)


class OvsDpdkLab:
    """One Open vSwitch; its namespace holds no more than the bridge's own interface."""

    def __init__(
        self, settings: OvsDpdkSettings, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime
    ) -> None:
        self.kind: str = settings.kind
        self._settings = settings
        self._ledger = ledger
        self._memory = memory
        self._namespace = ledger.namespace
        self._switch = OvsInstance(ledger, self._namespace, lifetime)
        self._ports = switch_ports(settings.chain)
        self._guests = settings.make_guests(ledger, memory, lifetime)
        self._cards = (
            CardPorts(
                self.kind,
                settings.cards,
                frame_size=settings.largest_frame_size,
                line_rate_bps=settings.line_rate_bps,
            )
            if settings.cards
            else None
        )
        self._links: PassiveLab | None = None
        self._facts: dict[str, object] = {}
        self._installed: Installed | None = None

    def up(self) -> LabPorts:
        """Start the switch with its ports and rules, then the guests; all are ready."""
        check_cpus(self._settings.polled_cpus)
        try:
            self._namespace.create()
            self._switch.start(SWITCH, format_cpu_list(allowed_cpus()), self._other_config())
            interfaces = {name: self._interface(name) for name in self._ports}
            if self._settings.vxlan is None:
                build_bridge(self._switch, interfaces)
            else:
                build_tunnel(self._switch, self._namespace, self._settings.vxlan, interfaces)
            self._installed = install(
                self._switch, self._settings.rules, self._settings.push_vlan, len(self._ports)
            )
            self._facts["version"] = self._versions()
            self._guests.start()
            self._guests.wait_ready()
            self._links = self._cards.open(self._notes()) if self._cards else self._by_vhost()
            return self._links.up()
        except BaseException:
            self.down()
            raise

    def wait_links(self, timeout_s: float) -> None:
        """Return once the switch sees a peer on each port."""
        down: list[str] = []

        def all_up() -> bool:
            nonlocal down
            down = [name for name in self._ports if not self._link_is_up(name)]
            return not down

        if not wait_until(all_up, timeout_s, every_s=_POLL_S, check=self.check):
            raise MachineError(
                f"{', '.join(down)} of Open vSwitch still without link after {timeout_s:g} s",
                where="lab",
                remedy="check that the tester opened the lab's ports and still runs",
            )

    def check(self) -> None:
        """Raise LabDied if switch, database or a guest has ended, LinkGone for an interface."""
        self._switch.check()
        self._guests.check()
        if self._links is not None:
            self._links.check()

    def watch_links(self) -> LinkWatch:
        """Watch the carriers of interfaces; the tester's other ports know their own links."""
        return self._links.watch_links() if self._links else lambda: ()

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        """Of the tester's two ports; None where no rule tells by which port frames left.

        Those of the rules, and what a port dropped before or behind them: of a vhost-user port
        that listens, Open vSwitch 3.1 has no other counters ("?").
        """
        self.check()
        if not self._settings.rules_count:
            return None
        into, out_of = self._counted()
        return tuple(
            DutPortCounters(port, into[name], out_of[name], 0, 0, 0, 0)
            for port, name in enumerate(PORTS)
        )

    def start_observation(self) -> SightEnd:
        """Read the hops and the slow path's counts before a trial; the end reads them after."""
        hops, figures = self._hops(), datapath_figures(self._switch)

        def end() -> DutObservation:
            now = datapath_figures(self._switch)
            return DutObservation(grown(hops, self._hops()), tuple(upcall_remarks(figures, now)))

        return end

    def processes(self) -> tuple[DutProcess, ...]:
        """The switch and the guests."""
        return (*self._switch.processes, *self._guests.processes())

    def facts(self) -> dict[str, object]:
        """Which switch it was, its rules as it has them, and its figures so far."""
        return {
            **self._facts,
            "settings": self._settings.model_dump(mode="json"),
            "namespace": self._ledger.namespace.name,
            "forwards": {
                "by": "Open vSwitch, userspace datapath (netdev) with DPDK",
                **rule_facts(self._switch, self._installed),
                **({"vxlan": tunnel_facts(self._switch)} if self._settings.vxlan else {}),
                "figures": datapath_figures(self._switch),
                "queues": self._switch.ask("dpif-netdev/pmd-rxq-show").splitlines(),
                "guests": self._guests.facts(),
            },
        }

    def down(self) -> None:
        """End the guests and the switch, and delete its namespace."""
        self._guests.stop()
        self._switch.stop()
        self._namespace.remove()

    def _by_vhost(self) -> PassiveLab:
        ports = LabPorts(
            devargs=tuple(self._devargs(port) for port in range(len(PORTS))),
            descriptors=self._settings.ring_size,
            queue_frames=self._settings.ring_size,
            paths=PATHS,
            drained_by="dut",
            line_rate_bps=self._settings.line_rate_bps,
            notes=self._notes(),
        )
        return PassiveLab(self.kind, ports)

    def _other_config(self) -> dict[str, str]:
        settings, megabytes = self._settings, self._settings.switch_megabytes
        # Neither way leaves files behind, nor needs hugetlbfs to be mounted. Open vSwitch adds
        # --in-memory, which DPDK refuses together with --no-huge, unless --legacy-mem is there.
        ordinary = f"--no-huge --legacy-mem -m {megabytes} --no-shconf"
        devices = " ".join(self._cards.eal_arguments) if self._cards else "--no-pci"
        memory = "--in-memory" if self._memory.huge else ordinary
        limit = {"dpdk-socket-limit": str(megabytes)} if self._memory.huge else {}
        return {
            "dpdk-init": "true",
            **VLAN_LIMIT,
            "dpdk-extra": f"{devices} {memory}",
            **limit,
            "per-port-memory": "true",
            "pmd-cpu-mask": f"0x{sum(1 << cpu for cpu in settings.switch_cpus):x}",
            "emc-insert-inv-prob": str(settings.emc_probability),
            "smc-enable": str(settings.smc).lower(),
        }

    def _interface(self, name: str) -> tuple[str, ...]:
        """The switch listens to the tester, which is not to wait for it without end.

        To a guest it is vhost-user's client: it finds it again, should one of the two start anew.
        """
        if name in PORTS and self._cards is not None:
            address = self._cards.devargs(PORTS.index(name))
            # As many queues of both ports together as there are threads to poll them.
            queues = -(-len(self._settings.switch_cpus) // len(PORTS))
            return ("type=dpdk", f"options:dpdk-devargs={address}", f"options:n_rxq={queues}")
        if name in PORTS:
            return ("type=dpdkvhostuser",)
        socket = _guest_socket(self._ledger, name)
        return ("type=dpdkvhostuserclient", f"options:vhost-server-path={socket}")

    def _counted(self) -> tuple[dict[str, int], dict[str, int]]:
        """Frames that the switch took from each port, and that it put out of each."""
        if self._settings.vxlan is not None:
            return self._counted_around_the_tunnel()
        counts = cross_counts(self._switch)
        drops = port_drops(self._switch, self._ports)
        return (
            {each.into: each.frames + drops[each.into].received for each in counts},
            {each.out_of: each.frames - drops[each.out_of].sent for each in counts},
        )

    def _counted_around_the_tunnel(self) -> tuple[dict[str, int], dict[str, int]]:
        """The same where each port has a bridge of its own."""
        inner, outer = PORTS
        counts = cross_counts(self._switch)
        outside = outer_counts(self._switch)
        drops = {
            **port_drops(self._switch, (inner,)),
            **port_drops(self._switch, (outer,), UNDERLAY),
        }
        into = {each.into: each.frames for each in counts}
        out_of = {each.out_of: each.frames for each in counts}
        return (
            {
                inner: into[inner] + drops[inner].received,
                outer: outside.into + drops[outer].received,
            },
            {inner: out_of[inner] - drops[inner].sent, outer: outside.out_of - drops[outer].sent},
        )

    def _hops(self) -> tuple[Hop, ...]:
        if not self._settings.rules_count:
            return ()
        return chain_hops(self._ports, *self._counted(), self._guests.counts())

    def _notes(self) -> tuple[str, ...]:
        loops = (*self._settings.switch_cpus, *self._settings.cpus_guests_poll)
        shared = sharing_note(loops)
        return (*((shared,) if shared else ()), *self._guests.notes())

    def _devargs(self, port: int) -> str:
        """The tester's end: one queue each way, on the socket that the switch listens on."""
        socket = self._ledger.directory / "ovs" / PORTS[port]
        return f"net_virtio_user{port},path={socket},queues=1,queue_size={self._settings.ring_size}"

    def _link_is_up(self, name: str) -> bool:
        return self._switch.configure("get", "Interface", name, "link_state").strip() == "up"

    def _versions(self) -> str:
        switch = self._switch.ask("version").splitlines()[0]
        dpdk = self._switch.configure("get", "Open_vSwitch", ".", "dpdk_version").strip()
        return f"{switch}, {dpdk.strip(chr(34))}"


def _guest_socket(ledger: Ledger, port: str) -> Path:
    """On which a guest listens for the switch's port of that name."""
    return ledger.directory / f"{port}.sock"


LAB = OvsDpdkSettings
