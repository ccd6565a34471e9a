"""The Tuned object: what the intent asks for beyond the performance profile.

As in the article "DPDK latency in OpenShift - Part II": a profile that includes the
operator's own and wins over it by its priority (19 before the operator's 20).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.tune.expected.tuned import has_patch, intent_sysctls, intent_units
from plimsoll.tune.expected.tuned_names import PATCH, operator_profile, rendered_profile
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.manifest import Manifest, manifest_of, manifest_text
from plimsoll.tune.render.files.rendered_file import RenderedFile

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
