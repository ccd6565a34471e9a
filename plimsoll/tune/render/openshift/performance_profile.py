"""The PerformanceProfile, and the Tuned object with what the intent asks for beyond it.

Fields as in the operator's own manifests/20-performance-profile.crd.yaml, v2
(openshift/cluster-node-tuning-operator at commit d2394aa8).

The Tuned object: what the intent asks for beyond the performance profile. As in the article "DPDK
latency in OpenShift - Part II": a profile that includes the operator's own and wins over it by its
priority (19 before the operator's 20).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.tune.expected.kubelet import ANNOTATION
from plimsoll.tune.expected.tuned import has_patch, intent_sysctls, intent_units
from plimsoll.tune.expected.tuned_names import PATCH, operator_profile, rendered_profile
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.hugepages import Hugepages
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import NetDevice
from plimsoll.tune.intent.processor import Cpus
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
)


def render_performance_profile(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """The one profile of the pool."""
    yield RenderedFile(
        "1-node/20-performance-profile.yaml",
        manifest_text(performance_profile(intent, pool)),
        does="Has the Node Tuning Operator make the kernel's arguments, the kubelet's and CRI-O's "
        f"settings, the TuneD profile and the runtime class performance-{intent.name}. The nodes "
        "restart.",
        undo=f"`oc delete performanceprofile {intent.name}`; the nodes restart again.",
    )


def performance_profile(intent: Intent, pool: Pool) -> Manifest:
    """The object; what the intent does not specify is left to the operator."""
    requested = {
        "additionalKernelArgs": list(intent.kernel.arguments) or None,
        "cpu": _cpu(intent),
        "globallyDisableIrqLoadBalancing": intent.irq.globally_disable_balancing,
        "hardwareTuning": _hardware_tuning(intent.cpus),
        "hugepages": _hugepages(intent.hugepages) if intent.hugepages else None,
        "kernelPageSize": intent.kernel.page_size,
        "machineConfigLabel": _machine_config_label(pool),
        "machineConfigPoolSelector": None if pool.selector is None else dict(pool.selector),
        "net": _given(
            devices=[_device(each) for each in intent.net_devices] or None,
            userLevelNetworking=intent.user_level_networking,
        ),
        "nodeSelector": pool.node_labels,
        "numa": _given(topologyPolicy=intent.numa_policy),
        "realTimeKernel": {"enabled": intent.kernel.realtime},
        "workloadHints": _given(
            highPowerConsumption=intent.hints.high_power,
            mixedCpus=intent.hints.mixed_cpus,
            perPodPowerManagement=intent.hints.per_pod_power,
            realTime=intent.hints.realtime,
        ),
    }
    spec = {field: value for field, value in requested.items() if value is not None}
    annotations = {ANNOTATION: json.dumps(intent.kubelet, indent=1)} if intent.kubelet else {}
    return manifest_of(
        "performance.openshift.io/v2",
        "PerformanceProfile",
        intent.name,
        annotations=annotations,
        spec=spec,
    )


def _machine_config_label(pool: Pool) -> dict[str, str] | None:
    """Only where the operator would not find the role in the nodes' label by itself."""
    (label,) = pool.node_labels
    return None if label.partition("/")[2] == pool.role else pool.machine_config_labels


def _cpu(intent: Intent) -> dict[str, Any]:
    cpus = intent.cpus
    return {
        **(_given(balanceIsolated=cpus.balance_isolated) or {}),
        "isolated": cpus.isolated.text,
        **({"offlined": cpus.offlined.text} if cpus.offlined else {}),
        "reserved": cpus.reserved.text,
        **({"shared": cpus.shared.text} if cpus.shared else {}),
    }


def _hardware_tuning(cpus: Cpus) -> dict[str, int] | None:
    if cpus.max_frequency is None:
        return None
    return {
        "isolatedCpuFreq": cpus.max_frequency.isolated_khz,
        "reservedCpuFreq": cpus.max_frequency.reserved_khz,
    }


def _device(device: NetDevice) -> dict[str, Any] | None:
    """Ids as sysfs has them."""
    return _given(
        deviceID=device.device_id and f"0x{device.device_id}",
        interfaceName=device.interface,
        vendorID=device.vendor and f"0x{device.vendor}",
    )


def _hugepages(hugepages: Hugepages) -> dict[str, Any]:
    pages = [
        {"count": each.count, **(_given(node=each.node) or {}), "size": each.size}
        for each in hugepages.pages
    ]
    return {"defaultHugepagesSize": hugepages.default_size, "pages": pages}


def _given(**fields: Any) -> dict[str, Any] | None:
    """The fields that have a value; None where none has."""
    return {name: value for name, value in fields.items() if value is not None} or None


NAMESPACE = "openshift-cluster-node-tuning-operator"
_PRIORITY = 19
_SUMMARY = "What an intent asks for beyond its performance profile"


def render_tuned_patch(intent: Intent, pool: Pool) -> Iterator[RenderedFile]:
    """None where the performance profile says it all."""
    if not has_patch(intent):
        return
    yield RenderedFile(
        "1-node/21-tuned-patch.yaml",
        manifest_text(tuned_patch(intent, pool)),
        does="Adds sysctls, services and boot arguments that the performance profile has no field "
        f"for.{_for_a_second_pool(intent)}",
        undo=f"`oc delete tuned {object_name(intent)} -n {NAMESPACE}`",
    )


def tuned_patch(intent: Intent, pool: Pool) -> Manifest:
    """The object."""
    profile, priority = rendered_profile(intent), intent.tuned.priority
    recommend = {
        "machineConfigLabels": pool.machine_config_labels,
        "priority": _PRIORITY if priority is None else priority,
        "profile": profile,
    }
    return manifest_of(
        "tuned.openshift.io/v1",
        "Tuned",
        object_name(intent),
        namespace=NAMESPACE,
        spec={"profile": [{"data": _data(intent), "name": profile}], "recommend": [recommend]},
    )


def object_name(intent: Intent) -> str:
    """The Tuned object's name, by default its profile's."""
    return intent.tuned.object or rendered_profile(intent)


def _for_a_second_pool(intent: Intent) -> str:
    if intent.tuned.name:
        return ""
    return f" A cluster has one {PATCH}: for a second pool give it another name, `tuned.name`."


def _data(intent: Intent) -> str:
    thp = intent.services.thp
    include = ",".join(intent.tuned.include) or operator_profile(intent)
    sections: dict[str, Mapping[str, str]] = {
        "main": {"summary": _SUMMARY, "include": include},
        "bootloader": intent.kernel.tuned_bootloader,
        "sysctl": intent_sysctls(intent),
        "vm": {} if thp is None else {"transparent_hugepages": "always" if thp else "never"},
        "service": {
            f"service.{unit}": "start,enable" if switch else "stop,disable"
            for unit, switch in intent_units(intent).items()
        },
    }
    return tuned_text(with_sections(sections, intent))


def with_sections(
    sections: Mapping[str, Mapping[str, str]], intent: Intent
) -> dict[str, Mapping[str, str]]:
    """`sections`, with the intent's own over them; its variables stand before what uses them."""
    given = intent.tuned.sections
    order = dict.fromkeys(
        ("main", *(["variables"] if "variables" in given else ()), *sections, *given)
    )
    return {name: {**sections.get(name, {}), **given.get(name, {})} for name in order}


def tuned_text(sections: Mapping[str, Mapping[str, str]]) -> str:
    """A TuneD profile; empty sections are left out."""
    return "\n".join(
        f"[{section}]\n" + "".join(f"{name}={value}\n" for name, value in options.items())
        for section, options in sections.items()
        if options
    )
