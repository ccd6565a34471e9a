"""The lab `tc-redirect`: traffic control sends frames from one cable to the other."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import ClassVar, Literal

from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder, WiredForwarder, WiredSettings
from plimsoll.dut.kernel.wiring import DUT_PORTS, Wiring
from plimsoll.dut.lab import Lab, LineRate
from plimsoll.dut.needs import LabNeeds, NeededProgram, check_option
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import IP_PACKAGE, run_program
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import Lifetime

Classifier = Literal["flower", "u32"]
TC = NeededProgram("tc", IP_PACKAGE)
_INGRESS = KernelOption("NET_SCH_INGRESS", "sch_ingress", "traffic control of what comes in")
_MIRRED = KernelOption("NET_ACT_MIRRED", "act_mirred", "redirection by traffic control")
_CLASSIFIERS: dict[Classifier, KernelOption] = {
    "flower": KernelOption("NET_CLS_FLOWER", "cls_flower", "flower classifier"),
    "u32": KernelOption("NET_CLS_U32", "cls_u32", "u32 classifier"),
}
# Each matches every frame: flower by naming no field, u32 by 32 bits of which none count.
_MATCHES: dict[Classifier, str] = {"flower": "flower", "u32": "u32 match u32 0 0"}


class TcRedirectSettings(WiredSettings):
    """A filter on either port whose action redirects all frames to the other (tc-mirred(8)).

    `classifier` says by what a frame is looked at first: `flower`, which dissects its headers, or
    `u32`, which compares words of it.
    """

    summary: ClassVar[str] = "tc redirect, by flower or u32, between two veth cables; no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "traffic control")
    kind: Literal["tc-redirect"] = "tc-redirect"
    classifier: Classifier = "flower"

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, tc, and what redirects."""
        return replace(
            super().needs(),
            programs=(*super().needs().programs, TC),
            options=(_INGRESS, _MIRRED),
            for_settings=tuple(
                (f"classifier {name}", option) for name, option in _CLASSIFIERS.items()
            ),
        )

    def check_machine(self) -> LineRate:
        """The same as any cable, and whether the kernel has the classifier."""
        check_option(_CLASSIFIERS[self.classifier], "lab.classifier")
        return super().check_machine()

    def forwarder(self, ledger: Ledger) -> Forwarder:
        """The two filters."""
        return TcRedirect(self.wiring(ledger), self.classifier)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder(ledger))


class TcRedirect(WiredForwarder):
    """One filter on each port. It goes with its interface, and so with the namespace."""

    def __init__(self, wiring: Wiring, classifier: Classifier) -> None:
        super().__init__(wiring)
        self._classifier: Classifier = classifier

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Lay the cables, and have each port redirect."""
        ends = self.wiring.lay(namespace, mtu)
        matches = _MATCHES[self._classifier]
        ways = tuple(zip(DUT_PORTS, reversed(DUT_PORTS), strict=True))
        lines = (
            *(f"qdisc add dev {port} clsact" for port in DUT_PORTS),
            *(
                f"filter add dev {port} ingress protocol all prio 1 {matches} "
                f"action mirred egress redirect dev {out}"
                for port, out in ways
            ),
        )
        commands = "".join(f"{line}\n" for line in lines)
        run_program((TC.find(), "-netns", namespace.name, "-batch", "-"), given=commands)
        return ends

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The filters as the kernel has them, and what each has redirected so far."""
        return {
            "by": f"tc {self._classifier} and mirred",
            "actions": {port: _actions_of(namespace, port) for port in DUT_PORTS},
        }


def _actions_of(namespace: NetworkNamespace, port: str) -> list[dict[str, object]]:
    words = ("-json", "-stats", "filter", "show", "dev", port, "ingress")
    listed = json.loads(run_program((TC.find(), "-netns", namespace.name, *words)) or "[]")
    filters = [each for each in listed if "actions" in each.get("options", {})]
    return [
        {
            "classifier": each["kind"],
            "action": action.get("mirred_action"),
            "to": action.get("to_dev"),
            "packets": action.get("stats", {}).get("packets"),
            "drops": action.get("stats", {}).get("drops"),
        }
        for each in filters
        for action in each["options"]["actions"]
    ]


LAB = TcRedirectSettings
