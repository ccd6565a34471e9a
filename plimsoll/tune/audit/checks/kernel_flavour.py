"""11: the kernel that runs, against the one that is meant."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    worst_of,
)
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_REALTIME = "/sys/kernel/realtime"
_VERSION = "/proc/version"
_RELEASE = "/proc/sys/kernel/osrelease"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return worst_of((_judge_preemption(view, intent), _judge_pages(view, intent)))


def _judge_preemption(view: HostView, intent: Intent) -> CheckJudgement:
    version = view.need(_VERSION)
    # The file came with the RT patches; newer kernels say it in their version alone.
    realtime = view.find(_REALTIME) == "1" or "PREEMPT_RT" in version
    expected = "the real-time kernel" if intent.kernel.realtime else "no real-time kernel"
    read = Reading(_VERSION, version)
    if realtime == intent.kernel.realtime:
        kind = "is" if realtime else "is not"
        return ok(f"the kernel {kind} a real-time one", read, expected=expected)
    text = (
        "the kernel is a real-time one, which costs throughput, and the intent does not ask for it"
        if realtime
        else "the kernel is not a real-time one"
    )
    return fail(text, read, expected=expected, steps=[_install(intent)])


def _install(intent: Intent) -> Step:
    kind = "kernel-rt" if intent.kernel.realtime else "kernel"
    word = "true" if intent.kernel.realtime else "false"
    openshift = performance_profile(f"realTimeKernel.enabled: {word}")
    return advice(f"boot the distribution's {kind}", openshift=openshift)


def _install_pages(size: str) -> Step:
    openshift = performance_profile(f"kernelPageSize: {size}")
    return advice("boot the kernel of that page size (kernel-64k on arm64)", openshift=openshift)


def _judge_pages(view: HostView, intent: Intent) -> CheckJudgement:
    """RHEL's arm64 kernels with pages of 64 KiB have it in their name."""
    if intent.kernel.page_size is None:
        return not_applicable("the intent leaves the page size open")
    release = view.need(_RELEASE)
    found = "64k" if "64k" in release else "4k"
    read, expected = Reading(_RELEASE, release), f"pages of {intent.kernel.page_size}"
    if found == intent.kernel.page_size:
        return ok(f"its pages are of {found}", read, expected=expected)
    return fail(
        f"its pages are of {found}",
        read,
        expected=expected,
        steps=[_install_pages(intent.kernel.page_size)],
    )


CHECK = Check(
    number=11,
    name="kernel-flavour",
    group="boot",
    title="The kernel is of the flavour meant",
    reads=(_REALTIME, _VERSION, _RELEASE),
    why=(
        "The real-time kernel bounds how long anything keeps a thread from running, and pays "
        "with throughput in every lock and interrupt. Measurements on one say nothing about "
        "the other."
    ),
    fix="Set kernel.realtime as meant and boot that kernel; on OpenShift realTimeKernel.enabled.",
    sources=(
        "Linux, kernel/Kconfig.preempt: PREEMPT_RT",
        "OpenShift, PerformanceProfile: realTimeKernel, kernelPageSize",
    ),
    rule=_judge,
)
