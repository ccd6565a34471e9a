"""A host's TuneD profile, and the same sysctls for hosts without TuneD.

The profile stands on network-latency and does what cpu-partitioning does, except for the
boot: the kernel's command line has one owner, the file beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.tune.expected.irq import keeps_irqs_off
from plimsoll.tune.expected.tuned import asked_sysctls, asked_units
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.rendered_file import RenderedFile
from plimsoll.tune.render.tuned_patch import tuned_text

_WORKQUEUES = (
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/devices/virtual/workqueue/*/cpumask",
)


def render_tuned_profile(intent: Intent) -> Iterator[RenderedFile]:
    """Except where the intent has TuneD off."""
    if intent.services.tuned is False:
        return
    name = f"plimsoll-{intent.name}"
    yield RenderedFile(
        f"host/etc/tuned/{name}/tuned.conf",
        tuned_text(_sections(intent)),
        does=f"The TuneD profile: `tuned-adm profile {name}`.",
        undo="`tuned-adm profile balanced`, or the one that was active before.",
    )


def _sections(intent: Intent) -> dict[str, Mapping[str, str]]:
    thp = intent.services.thp
    return {
        "main": {
            "summary": "A dataplane on isolated CPUs, after a Plimsoll intent",
            "include": "network-latency",
        },
        "variables": {
            "isolated_cores": intent.cpus.isolated.canonical,
            "not_isolated_cpumask": "${f:cpulist2hex_invert:${isolated_cores}}",
        },
        "cpu": _cpu(intent),
        "vm": {} if thp is None else {"transparent_hugepages": "always" if thp else "never"},
        "sysctl": asked_sysctls(intent),
        "sysfs": dict.fromkeys(_WORKQUEUES, "${not_isolated_cpumask}"),
        **_interrupts(intent),
        "service": {
            f"service.{unit}": "start,enable" if switch else "stop,disable"
            for unit, switch in asked_units(intent).items()
        },
        "bootloader": {"enabled": "false"},
    }


def _cpu(intent: Intent) -> dict[str, str]:
    """network-latency holds CPUs awake and fast; a guest has no say in either."""
    if intent.hints.high_power is None and intent.platform == "bare-metal":
        return {}
    if intent.hints.high_power:
        return {"force_latency": "cstate.id:1|3", "governor": "performance"}
    return {"enabled": "false"}


def _interrupts(intent: Intent) -> dict[str, Mapping[str, str]]:
    if not keeps_irqs_off(intent):
        return {"irqbalance": {"enabled": "false"}}
    return {
        "irqbalance": {"banned_cpus": "${isolated_cores}"},
        "scheduler": {"isolated_cores": "${isolated_cores}"},
    }


def render_sysctls(intent: Intent) -> Iterator[RenderedFile]:
    """Only where the intent has some."""
    settings = asked_sysctls(intent)
    if not settings:
        return
    yield RenderedFile(
        f"host/etc/sysctl.d/99-plimsoll-{intent.name}.conf",
        "".join(f"{name} = {value}\n" for name, value in settings.items()),
        does="The scheduler's and timers' settings, with or without TuneD: `sysctl --system`.",
        undo="Remove the file; the values return at the next boot.",
    )
