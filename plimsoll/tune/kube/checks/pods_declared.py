"""113: the pods that run, beside those of the intent."""

from __future__ import annotations

from functools import partial
from typing import Any

from plimsoll.tune.audit.finding import Judgement, not_applicable
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.kube.cluster_check import ClusterCheck
from plimsoll.tune.kube.cluster_view import ClusterView
from plimsoll.tune.kube.dataplane_pods import declared_pods, namespace_of_declared
from plimsoll.tune.kube.kinds import POD
from plimsoll.tune.kube.kube_object import KubeObject, items_at, name_of
from plimsoll.tune.kube.object_judgement import judge_each, judge_found, told
from plimsoll.tune.kube.wanted_object import WantedObject
from plimsoll.tune.kube.wanted_objects import wanted_pod


def _judge(view: ClusterView, intent: Intent) -> Judgement:
    return judge_each(
        intent.pods,
        partial(_judge_pod, view, intent),
        none="the intent has no pods",
        sound=f"running as intended: {told(each.name for each in intent.pods)}",
    )


def _judge_pod(view: ClusterView, intent: Intent, pod: Pod) -> Judgement:
    found = declared_pods(view, pod)
    if not found:
        place = f"{namespace_of_declared(pod)}/{pod.name}"
        return not_applicable(f"no pod {place} runs, nor any labelled app={pod.name}")
    return judge_each(
        found, partial(_judge_running, intent, pod), none="", sound=f"{pod.name} is as intended"
    )


def _judge_running(intent: Intent, pod: Pod, found: KubeObject) -> Judgement:
    """Under the running pod's own name; a controller's pods have others than the intent's."""
    wanted = wanted_pod(intent, pod)
    metadata = dict(wanted.manifest["metadata"]) | {
        "name": name_of(found),
        "namespace": namespace_of_declared(pod),
    }
    manifest = {**wanted.manifest, "metadata": metadata}
    renamed = WantedObject(wanted.kind, manifest, wanted.meanings, required=False)
    return judge_found(renamed, _with_container(found, pod.name))


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
    why=("Admission, templates and operators change pods on their way; what runs is measured."),
    fix="Start the pod anew from the rendered manifest, or mend what changes it on its way.",
    sources=("Kubernetes, Pod v1",),
    rule=_judge,
)
