"""A lab whose DUT is the kernel: a namespace, the DUT in it, and what leads there."""

from __future__ import annotations

import platform

from plimsoll.dut.kernel.settings import Forwarder, KernelSettings
from plimsoll.dut.lab import DutPortCounters, DutProcess, LabPorts, LinkWatch
from plimsoll.dut.sight import NOTHING_SEEN, SightEnd
from plimsoll.dut.wired import PassiveLab, open_wired
from plimsoll.host.cpus import check_cpus
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace, steer


class KernelLab:
    """The namespace is the ledger's, and all of the lab goes with it."""

    def __init__(
        self, settings: KernelSettings, kind: str, ledger: Ledger, forwarder: Forwarder
    ) -> None:
        self.kind = kind
        self._settings = settings
        self._ledger = ledger
        self._forwarder = forwarder
        self._namespace: NetworkNamespace | None = None
        self._links: PassiveLab | None = None

    def up(self) -> LabPorts:
        """Make the namespace and the DUT, and open the tester's ends."""
        check_cpus([("lab.cpu", self._settings.cpu)])
        namespace = self._namespace = self._ledger.namespace
        try:
            namespace.create()
            ends = self._forwarder.build(namespace, self._settings.mtu)
            for interface in self._forwarder.rx_interfaces():
                steer(namespace, interface, self._settings.cpu)
            self._links = open_wired(
                self.kind,
                ends,
                self._settings.tester_place,
                frame_size=self._settings.frame_size,
                line_rate_bps=self._settings.line_rate_bps,
                notes=self._forwarder.notes(),
            )
            return self._links.up()
        except BaseException:
            self.down()
            raise

    def wait_links(self, timeout_s: float) -> None:
        """Return once the DUT forwards."""
        if self._namespace is not None:
            self._forwarder.wait_links(self._namespace, timeout_s)

    def check(self) -> None:
        """Raise LabDied if a process has ended, LinkGone if an interface is no longer there."""
        self._forwarder.check()
        if self._links is not None:
            self._links.check()

    def watch_links(self) -> LinkWatch:
        """Watch the carriers of the cables."""
        return self._links.watch_links() if self._links else lambda: ()

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        """The kernel's counters of the DUT's own interfaces."""
        if self._namespace is None:
            return None
        self.check()
        counted = self._forwarder.counters(self._namespace)
        return tuple(port_counters(port, each) for port, each in enumerate(counted))

    def start_observation(self) -> SightEnd:
        """Read before a trial what the DUT counts inside; the end reads it after."""
        if self._namespace is None:
            return lambda: NOTHING_SEEN
        return self._forwarder.start_observation(self._namespace)

    def processes(self) -> tuple[DutProcess, ...]:
        """None where the kernel forwards."""
        return self._forwarder.processes()

    def facts(self) -> dict[str, object]:
        """Which kernel, and how it forwards, as it says itself."""
        known: dict[str, object] = {
            "version": self._forwarder.version() or f"Linux {platform.release()}",
            "settings": self._settings.model_dump(mode="json"),
        }
        if self._namespace is None:
            return known
        return {
            **known,
            "namespace": self._namespace.name,
            "forwards": self._forwarder.facts(self._namespace),
        }

    def down(self) -> None:
        """Delete the namespace, and with it the DUT and its cables; cards come back."""
        self._forwarder.stop()
        if self._namespace is not None:
            self._ledger.restore()
            self._namespace.remove()
            self._namespace = None


def port_counters(port: int, counted: LinkCounters) -> DutPortCounters:
    """Of an interface of the DUT's."""
    return DutPortCounters(
        port=port,
        rx_frames=counted.rx_packets,
        tx_frames=counted.tx_packets,
        rx_missed=counted.rx_dropped,
        rx_errors=counted.rx_errors,
        tx_errors=counted.tx_errors,
        rx_no_mbuf=0,
    )
