"""9: the IOMMU, through which user space reaches a device safely."""

from __future__ import annotations

from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import READS, add_at_boot, expected_on_host
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.audit.setting import machine_config
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    KernelCommandLine,
    read_command_line,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_GROUPS = "/sys/kernel/iommu_groups"
_UNSAFE = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
_EXPECTED = "IOMMU groups, and no unsafe mode"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    parts = [_unsafe(view, intent)]
    implied, needed = _implied(view, intent), any(n.driver == "vfio-pci" for n in intent.nics)
    if needed or implied:
        parts += [_groups(view, intent, implied, needed), _pass_through(view, intent, implied)]
    return worst_of(parts)


def _unsafe(view: HostView, intent: Intent) -> CheckJudgement:
    value = view.find(_UNSAFE)
    if value is None:
        return not_applicable("no device is to be driven through vfio-pci, and VFIO is not loaded")
    if value != "Y":
        return ok("VFIO insists on an IOMMU", Reading(_UNSAFE, value), expected=_EXPECTED)
    text = "VFIO's unsafe mode is on: a device, and who drives it, may write to any memory"
    if intent.platform == "vm":
        # Without a virtual IOMMU a guest has no other way.
        return warn(text, Reading(_UNSAFE, value), expected=_EXPECTED)
    return fail(text, Reading(_UNSAFE, value), expected=_EXPECTED, steps=[_insist()])


def _insist() -> Step:
    by_module = machine_config("load vfio without enable_unsafe_noiommu_mode")
    # Who has such a device open keeps it; the next cannot be opened without an IOMMU.
    return write(_UNSAFE, "N", openshift=by_module)


def _groups(view: HostView, intent: Intent, implied: list[str], needed: bool) -> CheckJudgement:
    """Where nothing is bound to vfio-pci yet, a host whose firmware has no IOMMU does no harm."""
    groups = view.find_names(_GROUPS)
    if groups:
        message = counted(len(groups), "group")
        return ok(f"the IOMMU has {message}", Reading(_GROUPS, message), expected=_EXPECTED)
    steps = [advice("turn VT-d or AMD-Vi on in the firmware")]
    line = read_command_line(view)
    if lacking := [word for word in implied if not _has(line, word)]:
        steps.append(add_at_boot(intent, *lacking))
    return (fail if needed or lacking else warn)(
        "there are no IOMMU groups, so that vfio-pci can bind no device safely",
        Reading(_GROUPS, "empty"),
        Reading(PATH, ", ".join(line.shown(word.partition("=")[0]) for word in implied)),
        expected=_EXPECTED,
        steps=steps,
    )


def _has(line: KernelCommandLine, word: str) -> bool:
    name, _, value = word.partition("=")
    return line.last(name) == value


def _pass_through(view: HostView, intent: Intent, implied: list[str]) -> CheckJudgement:
    """Devices of the kernel's own drivers need no translation, which costs them throughput."""
    if "iommu=pt" not in implied:
        return not_applicable("the intent implies no iommu=pt")
    if not view.find_names(_GROUPS):
        return not_applicable("without an IOMMU nothing is translated")
    line = read_command_line(view)
    if line.last("iommu") == "pt" or line.last("iommu.passthrough") == "1":
        return ok("the kernel's own devices bypass it", Reading(PATH, "iommu=pt"))
    return warn(
        "devices of the kernel's own drivers are translated too",
        Reading(PATH, line.shown("iommu")),
        expected="iommu=pt",
        steps=[add_at_boot(intent, "iommu=pt")],
    )


def _implied(view: HostView, intent: Intent) -> list[str]:
    names = ("iommu", "intel_iommu")
    return [each.text for each in expected_on_host(view, intent) if each.name in names]


CHECK = Check(
    number=9,
    name="iommu",
    group="boot",
    title="An IOMMU stands between user-space drivers and memory",
    reads=(*READS, _UNSAFE),
    lists=(_GROUPS,),
    why=(
        "vfio-pci gives a device to a process only behind an IOMMU. Its unsafe mode does "
        "without: then a wrong descriptor overwrites the kernel, and DPDK needs physical "
        "addresses, for which it has to be root."
    ),
    fix=(
        "Turn VT-d or AMD-Vi on in the firmware, and boot with intel_iommu=on iommu=pt (AMD: "
        "iommu=pt); leave enable_unsafe_noiommu_mode off."
    ),
    sources=(
        "Linux, Documentation/driver-api/vfio.rst",
        "DPDK, Getting Started Guide for Linux: Linux Drivers, VFIO no-IOMMU mode",
        "cluster-node-tuning-operator, its rendered tuned profile: intel_iommu=on iommu=pt",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)
