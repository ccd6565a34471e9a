"""115: whether the pods' wishes to CRI-O are heard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, warn
from plimsoll.tune.cluster.dataplane_pods import EFFECTS, dataplane_pods, runtime_classes
from plimsoll.tune.cluster.kinds import POD
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    sum_up,
)
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, annotations_of, full_name, text_at

_DISABLE = "disable"
# What CRI-O took at first; it still does, with a warning in its log.
_FORMER = "true"


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    pods = dataplane_pods(view, intent)
    return judge_each(
        pods,
        partial(_judge_pod, runtime_classes(intent)),
        none="no pod of the dataplane runs",
        sound="the annotations of the dataplane's pods are heard",
    )


def _judge_pod(classes: frozenset[str], pod: KubeObject) -> CheckJudgement:
    name = full_name(pod)
    given = {key: value for key, value in annotations_of(pod).items() if key in EFFECTS}
    return sum_up([_judge_class(classes, pod, name, given), *_judge_values(name, given)])


def _judge_class(
    classes: frozenset[str], pod: KubeObject, name: str, given: dict[str, str]
) -> CheckJudgement:
    found = text_at(pod, "spec", "runtimeClassName")
    read = Reading(f"Pod {name} spec.runtimeClassName", found or "not set")
    expected = abbreviated(sorted(classes))
    if found in classes or not classes:
        return ok(f"pod {name} has the runtime class {found or 'of its node'}", read)
    effect = "so CRI-O ignores its annotations" if given else "so CRI-O tunes nothing for it"
    return fail(
        f"pod {name} has {f'the runtime class {found}' if found else 'no runtime class'}, {effect}",
        read,
        expected=expected,
        steps=[advice(f"set runtimeClassName: {expected} in the pod")],
    )


def _judge_values(name: str, given: dict[str, str]) -> Iterator[CheckJudgement]:
    for key, value in given.items():
        read = Reading(f'Pod {name} metadata.annotations["{key}"]', value)
        step = advice(f'write {key}: "{_DISABLE}"')
        if value == _FORMER:
            text = f"pod {name} says {key}: {value}, which CRI-O gives up"
            yield warn(text, read, expected=_DISABLE, steps=[step])
        elif value != _DISABLE:
            text = f"pod {name} says {key}: {value}, which CRI-O ignores"
            yield fail(text, read, expected=_DISABLE, steps=[step])
        else:
            yield ok(f"pod {name} says {key}: {value}", read)


CHECK = ClusterCheck(
    number=115,
    name="pods-annotated",
    title="The dataplane's pods have the runtime class, and annotations that CRI-O knows",
    reads=(POD,),
    why=(
        'An annotation with another value than "disable", or on a pod of another runtime class, '
        "is ignored in silence: the pod runs with a CFS quota, balanced CPUs and interrupts."
    ),
    fix='Name the runtime class of the PerformanceProfile in the pod, and write "disable".',
    sources=("cri-o/cri-o, internal/runtimehandlerhooks/high_performance_hooks.go",),
    rule=_judge,
)
