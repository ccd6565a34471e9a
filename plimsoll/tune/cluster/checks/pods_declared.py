"""113: the pods that run, compared with those of the intent."""

from __future__ import annotations

from functools import partial
from typing import Any

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, warn
from plimsoll.tune.cluster.dataplane_pods import declared_pods, refused_pods
from plimsoll.tune.cluster.kinds import POD
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    judge_found,
    sum_up,
)
from plimsoll.tune.cluster.objects.expected_object import ExpectedObject
from plimsoll.tune.cluster.objects.expected_objects import expected_pod
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    condition,
    full_name,
    items_at,
    name_of,
    text_at,
)


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    return judge_each(
        intent.pods,
        partial(_judge_pod, view, intent),
        none="the intent has no pods",
        sound=f"running as intended: {abbreviated(each.name for each in intent.pods)}",
    )


def _judge_pod(view: ClusterView, intent: Intent, pod: Pod) -> CheckJudgement:
    if found := declared_pods(view, intent, pod):
        judge = partial(_judge_running, intent, pod)
        return judge_each(found, judge, none="", sound=f"{pod.name} is as intended")
    place = f"{intent.namespace_of(pod)}/{pod.name}"
    none = f"no pod {place} runs, nor any labelled app={pod.name}"
    return judge_each(refused_pods(view, intent, pod), _judge_refused, none=none, sound="")


def _judge_running(intent: Intent, pod: Pod, found: KubeObject) -> CheckJudgement:
    """Under the running pod's own name; a controller's pods have others than the intent's."""
    expected = expected_pod(intent, pod)
    metadata = dict(expected.manifest["metadata"]) | {
        "name": name_of(found),
        "namespace": intent.namespace_of(pod),
    }
    manifest = {**expected.manifest, "metadata": metadata}
    renamed = ExpectedObject(expected.kind, manifest, expected.meanings, required=False)
    return sum_up([judge_found(renamed, _with_container(found, pod.name)), _judge_phase(found)])


def _judge_phase(found: KubeObject) -> CheckJudgement:
    """What waits does not run, however well it is written."""
    name, phase = full_name(found), text_at(found, "status", "phase")
    read = Reading(f"Pod {name} status.phase", phase or "not set")
    if phase != "Pending":
        return ok(f"pod {name} is {phase or 'of no phase'}", read)
    step = advice(f"read oc describe pod {name_of(found)} for what it waits for")
    return warn(f"pod {name} waits: {_waits_for(found)}", read, expected="Running", steps=[step])


def _waits_for(found: KubeObject) -> str:
    """For a node, by the scheduler's words; or in a container, by the kubelet's."""
    if unscheduled := text_at(condition(found, "PodScheduled"), "message"):
        return unscheduled
    states = items_at(found, "status", "containerStatuses")
    reasons = (text_at(each, "state", "waiting", "reason") for each in states)
    return abbreviated(filter(None, reasons)) or "it does not say for what"


def _judge_refused(found: KubeObject) -> CheckJudgement:
    name, reason = full_name(found), text_at(found, "status", "reason")
    message = text_at(found, "status", "message") or "it does not say why"
    return fail(
        f"the node refused or evicted pod {name}: {reason}: {message}",
        Reading(f"Pod {name} status.reason", reason),
        expected="Running",
        steps=[advice("make room on one NUMA node, in whole cores, for all that the pod asks for")],
    )


def _with_container(found: KubeObject, name: str) -> KubeObject:
    """With its only container under the intent's name, whatever its own."""
    containers = items_at(found, "spec", "containers")
    if len(containers) != 1:
        return found
    spec: Any = found["spec"]
    return {**found, "spec": {**spec, "containers": [{**containers[0], "name": name}]}}


CHECK = ClusterCheck(
    number=113,
    name="pods-declared",
    title="The intent's pods run with its resources, annotations and runtime class",
    reads=(POD,),
    why=(
        "Admission, templates and operators change pods on their way; what runs is measured. A pod "
        "for which no NUMA node has room waits, or the kubelet refuses it and it stays Failed."
    ),
    fix="Restart the pod from the rendered manifest, or fix what changes it on its way.",
    sources=(
        "Kubernetes, Pod v1",
        "Kubernetes, Control Topology Management Policies on a node: Topology Affinity errors",
    ),
    rule=_judge,
)
