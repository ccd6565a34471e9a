"""The lab `ovs-dpdk`: Open vSwitch with DPDK between two vhost-user ports, on its own CPU."""

from __future__ import annotations

import time
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from plimsoll.dut.lab import (
    DutPortCounters,
    DutProcess,
    Lab,
    LabModel,
    LabPorts,
    LineRate,
    LinkWatch,
    Paths,
)
from plimsoll.dut.line_rate import LineRateField
from plimsoll.dut.needs import NAMESPACE_CAPABILITIES, LabNeeds, Program
from plimsoll.dut.ovs.figures import datapath_figures
from plimsoll.dut.ovs.instance import TOOLS, OvsInstance
from plimsoll.dut.ovs.rules import (
    VLAN_LIMIT,
    Installed,
    PushedTags,
    Rules,
    check_tags,
    install,
    rule_facts,
)
from plimsoll.dut.ovs.switch import PORTS, build_bridge
from plimsoll.errors import MachineError
from plimsoll.host.cpus import allowed_cpus, check_cpus, format_cpu_list
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime

# Debian and Ubuntu have it next to the switch without DPDK, and call it so.
SWITCH = Program("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk", "openvswitch-switch-dpdk")
_PATHS: Paths = ((0, 1), (1, 0))
_POLL_S = 0.1
# With memory of its own each of the two ports has some 18,500 mbufs: 16384 (MIN_NB_MBUF of
# netdev-dpdk.c) and those of its queues. Without hugepages an mbuf takes a page of 4 kB,
# because none may cross one; DPDK itself takes the rest.
_MEGABYTES = 208


class OvsDpdkSettings(LabModel):
    """Open vSwitch with DPDK and its own database, between two vhost-user ports.

    One PMD thread polls both on `cpu`. `rules` and `push_vlan` as in the lab `ovs`, `line_rate`
    as in testpmd-memif. `ring_size` is that of the tester's virtio-user ports, in frames, which
    have 1518 bytes at most. `emc_probability` is 1/N by which a flow enters the
    exact match cache (0: never; Open vSwitch's own is 100), `smc` turns on the signature match
    cache.
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
    cpu: int = Field(default=1, ge=0)
    rules: Rules = "cross"
    push_vlan: PushedTags = ()
    ring_size: Literal[256, 512, 1024] = 1024
    emc_probability: int = Field(default=100, ge=0, le=4294967295)
    smc: bool = False
    line_rate: LineRateField | None = None

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        check_tags(self.rules, self.push_vlan)
        return self

    @classmethod
    def needs(cls) -> LabNeeds:
        """Open vSwitch with DPDK, a CPU that it polls, and root for its namespace."""
        return LabNeeds(NAMESPACE_CAPABILITIES, ("tun",), (SWITCH, *TOOLS), 1, hugepages=True)

    @property
    def megabytes(self) -> int:
        """For DPDK itself and the mbufs of both ports, in MB."""
        return _MEGABYTES

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """That of the PMD thread."""
        return (("lab.cpu", self.cpu),)

    @property
    def port_count(self) -> int:
        """One at each end of the DUT."""
        return len(PORTS)

    @property
    def directions(self) -> Paths:
        """Through the DUT both ways."""
        return _PATHS

    @property
    def line_rate_bps(self) -> float | None:
        """As stated, L1."""
        return self.line_rate.value if self.line_rate else None

    def check_machine(self) -> LineRate:
        """Whether the switch is installed and this user may make its namespace."""
        self.needs().check()
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
        self._facts: dict[str, object] = {}
        self._installed: Installed | None = None

    def up(self) -> LabPorts:
        """Start the switch, and wait until it has its ports and rules."""
        check_cpus([("lab.cpu", self._settings.cpu)])
        try:
            self._namespace.create()
            self._switch.start(SWITCH, format_cpu_list(allowed_cpus()), self._other_config())
            # The switch listens, because a tester that listened would wait for it without end.
            interfaces = [("type=dpdkvhostuser",) for _ in PORTS]
            build_bridge(self._switch, interfaces)
            self._installed = install(self._switch, self._settings.rules, self._settings.push_vlan)
            self._facts["version"] = self._versions()
        except BaseException:
            self.down()
            raise
        return LabPorts(
            devargs=tuple(self._devargs(port) for port in range(len(PORTS))),
            descriptors=self._settings.ring_size,
            queue_frames=self._settings.ring_size,
            paths=_PATHS,
            drained_by="dut",
            line_rate_bps=self._settings.line_rate_bps,
        )

    def wait_links(self, timeout_s: float) -> None:
        """Return once the switch sees a client on each port."""
        deadline = time.monotonic() + timeout_s
        while down := [name for name in PORTS if not self._link_is_up(name)]:
            self.check()
            if time.monotonic() > deadline:
                raise MachineError(
                    f"{', '.join(down)} of Open vSwitch still without link after {timeout_s:g} s",
                    where="lab",
                    remedy="check that the tester opened the lab's ports and still runs",
                )
            time.sleep(_POLL_S)

    def check(self) -> None:
        """Raise LabDied if switch or database has ended."""
        self._switch.check()

    def watch_links(self) -> LinkWatch:
        """A watch that sees nothing: the tester's ports know the links of vhost."""
        return lambda: ()

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        """None: this switch says "?" of its vhost-user ports, and rules are counted late."""
        self.check()
        return None

    def processes(self) -> tuple[DutProcess, ...]:
        """The switch."""
        pid = self._switch.switch_pid
        return (DutProcess("ovs-vswitchd", pid),) if pid else ()

    def facts(self) -> dict[str, object]:
        """Which switch it was, its rules as it has them, and its figures so far."""
        return {
            **self._facts,
            "settings": self._settings.model_dump(mode="json"),
            "namespace": self._ledger.namespace.name,
            "forwards": {
                "by": "Open vSwitch, userspace datapath (netdev) with DPDK",
                **rule_facts(self._switch, self._installed),
                "figures": datapath_figures(self._switch),
                "queues": self._switch.ask("dpif-netdev/pmd-rxq-show").splitlines(),
            },
        }

    def down(self) -> None:
        """End the switch, and delete its namespace."""
        self._switch.stop()
        self._namespace.remove()

    def _other_config(self) -> dict[str, str]:
        settings, megabytes = self._settings, self._settings.megabytes
        # Neither way leaves files behind, nor needs hugetlbfs to be mounted. Open vSwitch adds
        # --in-memory, which DPDK refuses together with --no-huge, unless --legacy-mem is there.
        ordinary = f"--no-huge --legacy-mem -m {megabytes} --no-shconf"
        memory = "--in-memory" if self._memory.huge else ordinary
        limit = {"dpdk-socket-limit": str(megabytes)} if self._memory.huge else {}
        return {
            "dpdk-init": "true",
            **VLAN_LIMIT,
            "dpdk-extra": f"--no-pci {memory}",
            **limit,
            "per-port-memory": "true",
            "pmd-cpu-mask": f"0x{1 << settings.cpu:x}",
            "emc-insert-inv-prob": str(settings.emc_probability),
            "smc-enable": str(settings.smc).lower(),
        }

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
