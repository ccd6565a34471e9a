"""105: the runtime class that pods name to get their annotations heard."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok
from plimsoll.tune.cluster.dataplane_pods import runtime_classes
from plimsoll.tune.cluster.kinds import RUNTIME_CLASS
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
)
from plimsoll.tune.expected.kubelet import RUNTIME_HANDLER
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import text_at


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    names = sorted(runtime_classes(intent))
    return judge_each(
        names,
        partial(_judge_class, view, intent),
        none="the intent names no runtime class",
        sound=f"there is RuntimeClass {abbreviated(names)}",
    )


def _judge_class(view: ClusterView, intent: Intent, name: str) -> CheckJudgement:
    found = view.find(RUNTIME_CLASS, name)
    if found is None:
        return fail(
            f"there is no RuntimeClass {name}",
            expected=f"RuntimeClass {name}",
            steps=[advice("see why the operator does not carry the PerformanceProfile out")],
        )
    handler = text_at(found, "handler")
    read = Reading(f"RuntimeClass {name} handler", handler)
    # Another platform's pods may name a class of any runtime.
    if intent.platform == "openshift" and handler != RUNTIME_HANDLER:
        return fail(
            f"RuntimeClass {name} has the handler {handler}", read, expected=RUNTIME_HANDLER
        )
    return ok(f"RuntimeClass {name} has the handler {handler}", read)


CHECK = ClusterCheck(
    number=105,
    name="runtime-class",
    title="The runtime class is there, with CRI-O's high-performance handler",
    reads=(RUNTIME_CLASS,),
    why=(
        "CRI-O acts on a pod's CPU annotations only under a handler that allows them; under any "
        "other it ignores them without a word."
    ),
    fix="Let the Node Tuning Operator make it from the PerformanceProfile.",
    sources=("openshift/cluster-node-tuning-operator, assets/performanceprofile/configs",),
    rule=_judge,
)
