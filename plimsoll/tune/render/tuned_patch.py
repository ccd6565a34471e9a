"""The Tuned object: what the intent asks for beyond the performance profile.

As in the article "DPDK latency in OpenShift - Part II": a profile that includes the
operator's own and wins over it by its priority (19 before the operator's 20).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.tune.expected.tuned import (
    PATCH,
    asked_sysctls,
    asked_units,
    has_patch,
    operator_profile,
)
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.manifest import Manifest, manifest_of, manifest_text
from plimsoll.tune.render.rendered_file import RenderedFile

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
        f"for. A cluster has one {PATCH}: rename it for a second pool.",
        undo=f"`oc delete tuned {PATCH} -n {NAMESPACE}`",
    )


def tuned_patch(intent: Intent, pool: Pool) -> Manifest:
    """The object."""
    recommend = {
        "machineConfigLabels": pool.machine_config_labels,
        "priority": _PRIORITY,
        "profile": PATCH,
    }
    return manifest_of(
        "tuned.openshift.io/v1",
        "Tuned",
        PATCH,
        namespace=NAMESPACE,
        spec={"profile": [{"data": _data(intent), "name": PATCH}], "recommend": [recommend]},
    )


def _data(intent: Intent) -> str:
    thp = intent.services.thp
    sections: dict[str, Mapping[str, str]] = {
        "main": {"summary": _SUMMARY, "include": operator_profile(intent)},
        "bootloader": intent.kernel.tuned_bootloader,
        "sysctl": asked_sysctls(intent),
        "vm": {} if thp is None else {"transparent_hugepages": "always" if thp else "never"},
        "service": {
            f"service.{unit}": "start,enable" if switch else "stop,disable"
            for unit, switch in asked_units(intent).items()
        },
    }
    return tuned_text(sections)


def tuned_text(sections: Mapping[str, Mapping[str, str]]) -> str:
    """A TuneD profile; empty sections are left out."""
    return "\n".join(
        f"[{section}]\n" + "".join(f"{name}={value}\n" for name, value in options.items())
        for section, options in sections.items()
        if options
    )
