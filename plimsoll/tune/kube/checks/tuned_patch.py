"""106: the Tuned object with what the profile has no field for."""

from __future__ import annotations

from plimsoll.tune.audit.finding import Judgement, not_applicable
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kube.cluster_check import ClusterCheck
from plimsoll.tune.kube.cluster_view import ClusterView
from plimsoll.tune.kube.kinds import TUNED
from plimsoll.tune.kube.object_judgement import judge_object
from plimsoll.tune.kube.wanted_objects import wanted_tuned


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> Judgement:
    wanted = wanted_tuned(intent, pool)
    if wanted is None:
        return not_applicable("the intent asks for nothing beyond its PerformanceProfile")
    return judge_object(view, wanted)


CHECK = ClusterCheck(
    number=106,
    name="tuned-patch",
    title="The Tuned patch is the rendered one",
    reads=(TUNED,),
    why=(
        "Sysctls, services and boot arguments that the PerformanceProfile has no field for are in "
        "this object; the profile of the highest priority for a node wins."
    ),
    fix="Apply the rendered Tuned object.",
    sources=("openshift/cluster-node-tuning-operator, pkg/apis/tuned/v1",),
    pool_rule=_judge,
)
