"""Interrupts with a number that are not a device's: each CPU has its own of them."""

from __future__ import annotations

import re

# Arm's and RISC-V's: timers, counters, what KVM has of both, IPIs, and Xen's event channels.
# x86 gives its own of the kind no numbers, but names such as LOC.
_NAME = re.compile(
    r"arch_timer|riscv-timer|arm-pmu|arm_spe_pmu|arm_trbe|kvm guest [vp]timer|vgic|IPI|events"
)
# Those that are a CPU's tick, by the name that /proc/interrupts has.
TICKS = frozenset({"LOC", "arch_timer", "riscv-timer"})


def is_of_each_cpu(name: str) -> bool:
    """Whether a numbered interrupt with this handler's name is each CPU's own."""
    return _NAME.fullmatch(name) is not None
