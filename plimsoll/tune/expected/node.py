"""What an intent means on a node: everything that is to be found there, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plimsoll.tune.expected.host_arguments import host_arguments
from plimsoll.tune.expected.irq import IrqPlacement, expected_irqs
from plimsoll.tune.expected.kernel_argument import (
    KernelArgument,
    NodePages,
    Vendor,
    last_of_each,
    node_pages,
)
from plimsoll.tune.expected.kubelet import Crio, expected_crio, expected_kubelet
from plimsoll.tune.expected.operator_arguments import operator_arguments
from plimsoll.tune.expected.tuned import expected_profile, expected_sysctls, expected_units
from plimsoll.tune.expected.tuned_names import tuned_cpu_mask
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.kubernetes.kube_object import KubeObject, labels_of, name_of, namespace_of


@dataclass(frozen=True)
class ExpectedNode:
    """`kernel_arguments` has all of them in order, `effective_arguments` those that count.

    `non_isolated_mask` is of the reserved CPUs, as TuneD writes masks. `kubelet` is empty
    and `crio` None where there is neither; `tuned_profile` is None where TuneD is not
    used. `units` are systemd's, true for on.
    """

    kernel_arguments: tuple[KernelArgument, ...]
    non_isolated_mask: str
    node_pages: tuple[NodePages, ...]
    irqs: IrqPlacement
    kubelet: dict[str, Any]
    crio: Crio | None
    tuned_profile: str | None
    sysctls: dict[str, str]
    units: dict[str, bool]

    @property
    def effective_arguments(self) -> tuple[KernelArgument, ...]:
        """Without those that a later one overrides."""
        return last_of_each(self.kernel_arguments)


def expected_node(intent: Intent, vendor: Vendor = "intel") -> ExpectedNode:
    """What is to be found on each node; `vendor` is who made its processors."""
    return ExpectedNode(
        kernel_arguments=expected_arguments(intent, vendor),
        non_isolated_mask=tuned_cpu_mask(intent.cpus.housekeeping),
        node_pages=node_pages(intent.hugepages),
        irqs=expected_irqs(intent),
        kubelet=expected_kubelet(intent),
        crio=expected_crio(intent),
        tuned_profile=expected_profile(intent),
        sysctls=expected_sysctls(intent),
        units=expected_units(intent),
    )


def expected_arguments(intent: Intent, vendor: Vendor = "intel") -> tuple[KernelArgument, ...]:
    """The kernel's arguments that the intent implies, by its platform, in order."""
    by_platform = operator_arguments if intent.platform == "openshift" else host_arguments
    return by_platform(intent, vendor)


def is_declared(found: KubeObject, intent: Intent, pod: Pod) -> bool:
    """Whether it is the intent's pod, or one of a controller that gave it the pod's label."""
    if namespace_of(found) != intent.namespace_of(pod):
        return False
    return name_of(found) == pod.name or labels_of(found).get("app") == pod.name
