"""A host's TuneD profile, its sysctls, and its kernel's command line.

The profile stands on network-latency and does what cpu-partitioning does, except for the
boot: the kernel's command line has one owner, the file next to it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from plimsoll.tune.expected.host_arguments import host_arguments
from plimsoll.tune.expected.irq import keeps_irqs_off
from plimsoll.tune.expected.kernel_argument import Vendor, command_line, last_of_each
from plimsoll.tune.expected.tuned import intent_sysctls, intent_units
from plimsoll.tune.expected.tuned_names import rendered_profile
from plimsoll.tune.host.cpus.threads import LONGEST_COMM
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.performance_profile import tuned_text, with_sections

# The programs that TuneD's cpu-partitioning leaves where they are (its ps_blacklist).
_SPARED = (
    ".*pmd.*",
    ".*PMD.*",
    "^DPDK",
    ".*qemu-kvm.*",
    "^contrail-vroute$",
    "^lcore-slave-.*",
    "^rte_mp_handle$",
    "^rte_mp_async$",
    "^eal-intr-thread$",
)
# DPDK's threads since, which that list lacks: workers from 20.11 on, and from 23.11 on all of
# its own (lib/eal/linux/eal.c, lib/eal/include/rte_thread.h).
_SPARED_SINCE = ("^lcore-worker-", "^dpdk-")
_TREX = "^_t-rex-64"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]")
_WORKQUEUES = (
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/devices/virtual/workqueue/*/cpumask",
)


def render_tuned_profile(intent: Intent) -> Iterator[RenderedFile]:
    """Except where the intent has TuneD off."""
    if intent.services.tuned is False:
        return
    name = rendered_profile(intent)
    yield RenderedFile(
        f"host/etc/tuned/{name}/tuned.conf",
        tuned_text(with_sections(_sections(intent), intent)),
        does=f"The TuneD profile: `tuned-adm profile {name}`.{_moved(intent)}",
        undo="`tuned-adm profile balanced`, or the one that was active before.",
    )


def _sections(intent: Intent) -> dict[str, Mapping[str, str]]:
    thp = intent.services.thp
    return {
        "main": {
            "summary": "A dataplane on isolated CPUs, after a Plimsoll intent",
            "include": ",".join(intent.tuned.include) or "network-latency",
        },
        "variables": {
            "isolated_cores": intent.cpus.isolated.canonical,
            "not_isolated_cpumask": "${f:cpulist2hex_invert:${isolated_cores}}",
        },
        "cpu": _cpu(intent),
        "vm": {} if thp is None else {"transparent_hugepages": "always" if thp else "never"},
        "sysctl": intent_sysctls(intent),
        "sysfs": dict.fromkeys(_WORKQUEUES, "${not_isolated_cpumask}") | _turbo_switches(intent),
        **_interrupts(intent),
        "service": {
            f"service.{unit}": "start,enable" if switch else "stop,disable"
            for unit, switch in intent_units(intent).items()
        },
        "bootloader": {"enabled": "false"},
    }


def _cpu(intent: Intent) -> dict[str, str]:
    """network-latency holds CPUs awake and fast; a guest has no say in either."""
    if intent.hints.high_power is None and intent.platform == "bare-metal":
        return _boost(intent)
    if intent.hints.high_power:
        return {"force_latency": "cstate.id:1|3", "governor": "performance"} | _boost(intent)
    return {"enabled": "false"}


def _boost(intent: Intent) -> dict[str, str]:
    """Against latency-performance, below network-latency, which since TuneD 2.27 turns it on.

    The plugin has the option since 2.24, and warns of it before.
    """
    turbo = _turbo(intent)
    return {} if turbo is None else {"boost": "1" if turbo else "0"}


def _turbo_switches(intent: Intent) -> dict[str, str]:
    """The kernel's own, for what boost leaves out.

    That is intel_pstate before TuneD 2.26, and all other drivers before Linux 6.11, whose
    policies have no switch of their own (tuned/plugins/plugin_cpu.py). TuneD passes over files
    that are not there.
    """
    turbo = _turbo(intent)
    if turbo is None:
        return {}
    return {
        "/sys/devices/system/cpu/intel_pstate/no_turbo": "0" if turbo else "1",
        "/sys/devices/system/cpu/cpufreq/boost": "1" if turbo else "0",
    }


def _turbo(intent: Intent) -> bool | None:
    """What the intent asks of a host's firmware; a guest has neither."""
    return intent.bios.turbo if intent.platform == "bare-metal" else None


def _interrupts(intent: Intent) -> dict[str, Mapping[str, str]]:
    if not keeps_irqs_off(intent):
        return {"irqbalance": {"enabled": "false"}}
    return {
        "irqbalance": {"banned_cpus": "${isolated_cores}"},
        "scheduler": {
            "isolated_cores": "${isolated_cores}",
            "ps_blacklist": ";".join(_spared(intent)),
        },
    }


def _spared(intent: Intent) -> tuple[str, ...]:
    """What may stay on isolated CPUs whenever TuneD starts, as expressions for processes' names.

    Its scheduler plugin moves everything else that runs there then, however it was pinned.
    """
    names = (_NOT_PLAIN.sub(".", name[:LONGEST_COMM]) for name in intent.expected_processes)
    own = dict.fromkeys(f"^{name}$" for name in names)
    trex = (_TREX,) if intent.generator.trex else ()
    return (*_SPARED, *_SPARED_SINCE, *trex, *own)


def _moved(intent: Intent) -> str:
    if not keeps_irqs_off(intent):
        return ""
    named = ", ".join(intent.expected_processes) or "none yet"
    return (
        " Whenever TuneD starts, it moves all programs off the isolated CPUs, those that pinned "
        "themselves there too, except DPDK's testpmd, threads with DPDK's own names, and the "
        f"intent's expected_processes ({named}): name yours there before you restart it."
    )


def render_sysctls(intent: Intent) -> Iterator[RenderedFile]:
    """Only where the intent has some."""
    settings = intent_sysctls(intent)
    if not settings:
        return
    yield RenderedFile(
        f"host/etc/sysctl.d/99-plimsoll-{intent.name}.conf",
        "".join(f"{name} = {value}\n" for name, value in settings.items()),
        does="The scheduler's and timers' settings, with or without TuneD: `sysctl --system`.",
        undo="Remove the file; the values return at the next boot.",
    )


PATH = "kernel-command-line.txt"


def render_command_line(intent: Intent, vendor: Vendor) -> Iterator[RenderedFile]:
    """The arguments in one line, and as a drop-in of GRUB's configuration."""
    line = command_line(last_of_each(host_arguments(intent, vendor)))
    yield RenderedFile(
        PATH,
        line + "\n",
        does="The kernel's arguments. RHEL and its kin: "
        f'`grubby --update-kernel=ALL --args="$(cat {PATH})"`.',
        undo=f'`grubby --update-kernel=ALL --remove-args="$(cat {PATH})"`',
        commented=False,
    )
    yield RenderedFile(
        f"host/etc/default/grub.d/50-plimsoll-{intent.name}.cfg",
        # A shell reads it, and it comes after what is there.
        f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX "{shlex.quote(line)}\n',
        does="The same arguments where Debian's and Ubuntu's GRUB looks: run `update-grub`.",
        undo="Remove the file and run `update-grub`.",
    )
