"""Where device interrupts may go."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.tune.expected.tuned_names import tuned_cpu_mask
from plimsoll.tune.intent.intent import Intent


@dataclass(frozen=True, slots=True)
class IrqPlacement:
    """`allowed` are the CPUs to which device interrupts may go while no pod asks otherwise.

    `default_smp_affinity` is what /proc/irq/default_smp_affinity is to hold, None where
    nothing sets it.
    """

    allowed: frozenset[int]
    default_smp_affinity: str | None


def keeps_irqs_off(intent: Intent) -> bool:
    """Whether interrupts are kept off all isolated CPUs.

    Not specified is a performance profile's default, off; on a host, where no pod can ask
    for itself, it is on.
    """
    setting = intent.irq.globally_disable_balancing
    return intent.platform != "openshift" if setting is None else setting


def expected_irqs(intent: Intent) -> IrqPlacement:
    """The reserved CPUs where interrupts are kept off the isolated ones, else all.

    With the profile's switch off the operator clears irqbalance's list at boot and leaves
    affinities alone; CRI-O then bans the CPUs of each pod that asks, while it runs.
    """
    reserved, isolated = intent.cpus.reserved.cpus, intent.cpus.isolated.cpus
    if not keeps_irqs_off(intent):
        return IrqPlacement(reserved | isolated, None)
    return IrqPlacement(reserved, tuned_cpu_mask(reserved))
