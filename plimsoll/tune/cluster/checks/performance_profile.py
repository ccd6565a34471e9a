"""101: the PerformanceProfile, and what its operator made of it."""

from __future__ import annotations

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, warn
from plimsoll.tune.cluster.kinds import PERFORMANCE_PROFILE
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_object, sum_up
from plimsoll.tune.cluster.objects.expected_objects import expected_performance_profile
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, condition, is_true, text_at


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    expected = expected_performance_profile(intent, pool)
    parts = [judge_object(view, expected)]
    found = view.find(PERFORMANCE_PROFILE, expected.name)
    if found is not None:
        parts.append(_judge_conditions(found, expected.title))
    return sum_up(parts)


def _judge_conditions(found: KubeObject, title: str) -> CheckJudgement:
    read = Reading(f"{title} status.conditions", _words(found))
    if is_true(found, "Degraded"):
        message = text_at(condition(found, "Degraded"), "message") or "it does not say why"
        return fail(
            f"the operator cannot carry {title} out: {message}",
            read,
            expected="Degraded False",
            steps=[
                advice(f"read oc describe performanceprofile {text_at(found, 'metadata', 'name')}")
            ],
        )
    if not is_true(found, "Available"):
        return warn(f"{title} is not carried out yet", read, expected="Available True")
    return ok(f"{title} is carried out", read)


def _words(found: KubeObject) -> str:
    kinds = ("Available", "Progressing", "Degraded")
    return ", ".join(f"{kind} {condition(found, kind).get('status', 'not set')}" for kind in kinds)


CHECK = ClusterCheck(
    number=101,
    name="performance-profile",
    title="The PerformanceProfile is the rendered one",
    reads=(PERFORMANCE_PROFILE,),
    why=(
        "The Node Tuning Operator makes kernel arguments, kubelet and CRI-O settings and the TuneD "
        "profile of this one object. A field that differs here differs on every node."
    ),
    fix="Apply the rendered PerformanceProfile; the nodes of the pool restart.",
    sources=("openshift/cluster-node-tuning-operator, PerformanceProfile v2",),
    pool_rule=_judge,
)
