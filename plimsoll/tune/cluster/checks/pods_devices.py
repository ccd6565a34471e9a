"""116: whether pods ask for the devices that their networks take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from plimsoll.host.kubernetes.own_objects import NETWORKS
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
)
from plimsoll.tune.cluster.dataplane_pods import dataplane_pods
from plimsoll.tune.cluster.kinds import NETWORK_ATTACHMENT, POD
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_each, sum_up
from plimsoll.tune.cluster.selected_networks import (
    SelectedNetwork,
    resource_of,
    selected_networks,
)
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    annotations_of,
    full_name,
    namespace_of,
    parse_quantity,
    value_at,
)
from plimsoll.tune.kubernetes.pods import containers_of


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    pods = dataplane_pods(view, intent)
    own = {nic.resource for nic in intent.nics if nic.resource}
    return judge_each(
        pods,
        partial(_judge_pod, view, frozenset(own)),
        none="no pod of the dataplane runs",
        sound="the dataplane's pods ask for the devices of their networks",
    )


def _judge_pod(view: ClusterView, own: frozenset[str], pod: KubeObject) -> CheckJudgement:
    name = full_name(pod)
    given = annotations_of(pod).get(NETWORKS, "")
    where = Reading(f'Pod {name} metadata.annotations["{NETWORKS}"]', given or "not set")
    try:
        networks = selected_networks(given, namespace_of(pod))
    except ValueError as error:
        return fail(
            f"pod {name} names its networks in a form that Multus does not know: it {error}", where
        )
    missing, taken = _attachments(view, networks)
    requested = {resource for resource in own if _requested(pod, resource)}
    if not networks and not requested:
        return not_applicable(f"pod {name} joins no network")
    parts = [_judge_missing(name, each, where) for each in missing]
    resources = sorted({*taken, *requested})
    parts += [_judge_resource(pod, name, each, taken[each], missing) for each in resources]
    return sum_up(parts or [ok(f"pod {name} joins networks without devices", where)])


def _attachments(
    view: ClusterView, networks: tuple[SelectedNetwork, ...]
) -> tuple[list[SelectedNetwork], Counter[str]]:
    """Those that are not there, and how many devices the others take of each resource."""
    missing: list[SelectedNetwork] = []
    taken: Counter[str] = Counter()
    for each in networks:
        found = view.find(NETWORK_ATTACHMENT, each.name, each.namespace)
        if found is None:
            missing.append(each)
        elif resource := resource_of(found):
            taken[resource] += 1
    return missing, taken


def _judge_missing(name: str, network: SelectedNetwork, read: Reading) -> CheckJudgement:
    text = f"pod {name} joins {network}, and there is no such NetworkAttachmentDefinition"
    return fail(text, read, expected=str(network), steps=[advice("apply the rendered networks")])


def _judge_resource(
    pod: KubeObject, name: str, resource: str, taken: int, missing: list[SelectedNetwork]
) -> CheckJudgement:
    requested = _requested(pod, resource)
    read = Reading(f"Pod {name} requests of {resource}", str(requested))
    expected = f"{taken} of {resource}"
    if requested < taken:
        text = f"pod {name} joins {taken} networks of {resource}, and asks for {requested}"
        step = advice(f"request {taken} of {resource} in the pod")
        return fail(text, read, expected=expected, steps=[step])
    if requested > taken and missing:
        return unknown(
            f"pod {name} asks for {requested} of {resource}; not all its networks exist", read
        )
    if requested > taken:
        unused = requested - taken
        text = f"pod {name} asks for {requested} of {resource}, and {unused} join no network"
        step = advice("name a network for each device, which sets its VLAN, trust and spoof check")
        return warn(text, read, expected=expected, steps=[step])
    return ok(f"pod {name} asks for {requested} of {resource}", read)


def _requested(pod: KubeObject, resource: str) -> int:
    return sum(_amounts(pod, resource))


def _amounts(pod: KubeObject, resource: str) -> Iterator[int]:
    for container in containers_of(pod):
        # A device has no request of its own where there is a limit.
        for field in ("requests", "limits"):
            given = value_at(container, "resources", field, resource)
            if given is not None:
                yield _whole(given)
                break


def _whole(given: object) -> int:
    try:
        return int(parse_quantity(given))
    except ValueError:
        return 0


CHECK = ClusterCheck(
    number=116,
    name="pods-devices",
    title="The dataplane's pods ask for the devices that their networks take",
    reads=(POD, NETWORK_ATTACHMENT),
    why=(
        "Multus gives an attachment a device only out of those that the kubelet gave the pod. One "
        "too few and the pod does not start; one too many has neither VLAN nor trust set."
    ),
    fix="Request, of each resource, as many as there are networks of it in the pod's annotation.",
    sources=("Kubernetes Network Custom Resource Definition De-facto Standard",),
    rule=_judge,
)
