"""Whether polling loops had their CPUs to themselves."""

from __future__ import annotations

from typing import Literal

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.text.units import RatioField
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.outcome.host_metrics import HostFigure, HostQuestion


class Busy(HostCriterion):
    """Each CPU that is polled spends at least this share of its time in user space.

    What is missing went to the kernel, to interrupts or to a hypervisor, or the loop slept.
    It does not tell whose user space: that another process ran there as well shows in the
    context switches.
    """

    kind: Literal["busy"] = "busy"
    at_least: RatioField = 0.99
    cpus: Literal["under-test", "dut", "tester"] = "dut"

    @property
    def bound(self) -> HostBound:
        """Each CPU's share of time in user space."""
        return HostBound(
            self.kind,
            HostQuestion("mpstat", "Busy-CPU", where=(("type", ("usr",)),), cpus=self.cpus),
            limit=self.at_least,
            unit="ratio",
            words="{} of its time was spent in user space",
            least=True,
        )

    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """That of the polling party."""
        tester = host.polled.get("tester")
        testers = bool(tester) and int(figure.names["cpu"]) in parse_cpu_list(tester or "")
        return "invalid" if testers else "fail"


CRITERION = Busy
