"""37: whether the card's PCIe link may go to sleep."""

from __future__ import annotations

import re
from functools import partial

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
    write,
)
from plimsoll.tune.audit.ports.nic_ports import (
    PORT_LINK_READS,
    PORT_LINKS,
    PORT_LISTS,
    PORT_READS,
    NicPort,
    judge_links,
)
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.ports.pcie_link import LSPCI, PcieLink, capabilities_of
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_POLICY = "/sys/module/pcie_aspm/parameters/policy"
_STATES = ("l0s_aspm", "l1_aspm", "l1_1_aspm", "l1_2_aspm")
_STATE_READS = tuple(f"/sys/bus/pci/devices/*/link/{name}" for name in _STATES)
_CHOSEN = re.compile(r"\[(\w+)\]")
_BY_PROFILE = performance_profile(
    "additionalKernelArgs pcie_aspm.policy=performance (kernel.arguments of the intent)"
)
_EXPECTED = "links that never sleep"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if intent.bios.aspm:
        return not_applicable("the intent wants ASPM (bios.aspm)")
    return judge_links(view, intent, partial(_port, view))


def _port(view: HostView, port: NicPort, link: PcieLink) -> CheckJudgement:
    """What the link itself does counts more than the policy that it may be under."""
    states = {name: view.find(f"{port.pci}/link/{name}") for name in _STATES}
    known = {name: value for name, value in states.items() if value is not None}
    if known:
        return _by_states(port, known)
    said = view.command(LSPCI)
    found = capabilities_of(said.text, port.address or "") if said else None
    if found and found.aspm:
        return _by_link_control(port, found.aspm)
    return _by_policy(view, port)


def _by_states(port: NicPort, states: dict[str, str]) -> CheckJudgement:
    on = [name for name, value in states.items() if value == "1"]
    message = ", ".join(f"{name} {value}" for name, value in states.items())
    read = Reading(f"{port.pci}/link", message)
    if not on:
        return ok(f"the link of {port.name} never sleeps", read, expected=_EXPECTED)
    return fail(
        f"the link of {port.name} may sleep: {', '.join(on)}",
        read,
        expected=_EXPECTED,
        steps=[write(f"{port.pci}/link/{name}", "0", openshift=_BY_PROFILE) for name in on],
    )


def _by_link_control(port: NicPort, aspm: str) -> CheckJudgement:
    read = Reading(LSPCI, f"{port.address}: ASPM {aspm}")
    if aspm == "Disabled":
        return ok(f"the link of {port.name} never sleeps", read, expected=_EXPECTED)
    return fail(
        f"the link of {port.name} may sleep: ASPM {aspm}",
        read,
        expected=_EXPECTED,
        steps=[_performance()],
    )


def _by_policy(view: HostView, port: NicPort) -> CheckJudgement:
    text = view.find(_POLICY)
    if text is None:
        return unknown(
            f"nothing tells whether the link of {port.name} sleeps: the kernel has no ASPM, and "
            "the firmware's setting shows to root's lspci alone",
            Reading(_POLICY, "absent"),
            expected=_EXPECTED,
        )
    chosen = _CHOSEN.search(text)
    policy = chosen[1] if chosen else text
    read = Reading(_POLICY, text)
    if policy == "performance":
        return ok("the policy lets no link sleep", read, expected=_EXPECTED)
    if policy == "default":
        message = f"the firmware decides whether the link of {port.name} sleeps"
        return unknown(message, read, expected=_EXPECTED)
    # Some cards have no state to sleep in, and kernels show link/*_aspm of those that have.
    message = f"the policy is {policy}, and nothing tells whether the link of {port.name} can sleep"
    return warn(message, read, expected=_EXPECTED, steps=[_performance()])


def _performance() -> Step:
    return write(_POLICY, "performance", openshift=_BY_PROFILE)


CHECK = Check(
    number=37,
    name="aspm",
    group="nic",
    title="The card's PCIe link never sleeps",
    reads=(*PORT_READS, *PORT_LINK_READS, *_STATE_READS, _POLICY),
    links=PORT_LINKS,
    lists=PORT_LISTS,
    commands=(LSPCI,),
    why=(
        "Active State Power Management puts a link to sleep after a few microseconds without "
        "traffic. To wake it takes from some hundred nanoseconds (L0s) to tens of microseconds "
        "(L1), which the first frame after a pause waits."
    ),
    fix=(
        "Turn ASPM off in the firmware; else boot with pcie_aspm.policy=performance, or write 0 "
        "to the link's l0s_aspm and l1_aspm."
    ),
    sources=(
        "Linux, Documentation/ABI/testing/sysfs-bus-pci: link/l1_aspm",
        "Linux, Documentation/admin-guide/kernel-parameters.txt: pcie_aspm",
        "Article: Build deterministic OpenShift dataplane performance with TRex, BIOS table",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)
