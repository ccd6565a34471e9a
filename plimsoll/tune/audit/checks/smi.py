"""16: whether system management interrupts would be seen."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    command,
    not_applicable,
    ok,
    unknown,
    warn,
)
from plimsoll.tune.audit.setting import machine_config
from plimsoll.tune.host.boot.operating_system import CPUINFO, is_virtual_machine
from plimsoll.tune.host.cpus.processor import processor_vendor
from plimsoll.tune.host.view.host_view import HostView

_MSR = "/dev/cpu/0"
_EVENTS = "/sys/bus/event_source/devices/msr/events"
_EXPECTED = "a way to count SMIs during a run"


def _judge(view: HostView) -> CheckJudgement:
    if is_virtual_machine(view):
        return not_applicable("a guest cannot see the SMIs of its host: audit that one")
    if processor_vendor(view) != "intel":
        return not_applicable("only Intel's processors count SMIs where the kernel can read it")
    if "msr" in view.find_names(_MSR):
        return ok("SMIs can be counted", Reading(f"{_MSR}/msr", "there"), expected=_EXPECTED)
    if "smi" not in view.find_names(_EVENTS):
        return unknown("nothing here counts SMIs", Reading(_EVENTS, "no smi"), expected=_EXPECTED)
    return warn(
        "a run cannot count SMIs, because the module msr is not loaded",
        Reading(_MSR, "no msr"),
        Reading(_EVENTS, "smi"),
        expected=_EXPECTED,
        steps=[
            command("modprobe", "msr", openshift=machine_config("put msr into /etc/modules-load.d"))
        ],
    )


CHECK = Check(
    number=16,
    name="smi",
    group="power",
    title="System management interrupts can be counted",
    reads=(CPUINFO,),
    lists=(_MSR, _EVENTS),
    why=(
        "In an SMI the firmware takes all CPUs for tens to hundreds of microseconds, and the "
        "kernel sees nothing but lost time. Intel's processors count them (MSR 0x34): that the "
        "count stands still during a run is what matters, and whether it can be read at all is "
        "what shows beforehand."
    ),
    fix=(
        "Load the module msr; turn off in the firmware what causes SMIs: USB legacy support, "
        "power capping, patrol scrubbing, vendor agents."
    ),
    sources=(
        "Intel, Software Developer's Manual, volume 4: MSR_SMI_COUNT",
        "Linux, Documentation/trace/hwlat_detector.rst",
    ),
    host_rule=_judge,
)
