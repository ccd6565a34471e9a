"""106: the Tuned object with what the profile has no field for."""

from __future__ import annotations

from plimsoll.tune.audit.finding import CheckJudgement, not_applicable
from plimsoll.tune.cluster.kinds import TUNED
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    judge_found,
    judge_object,
)
from plimsoll.tune.cluster.objects.expected_object import ExpectedObject
from plimsoll.tune.cluster.objects.expected_objects import expected_tuned
from plimsoll.tune.cluster.tuned_profiles import renamed_patches
from plimsoll.tune.expected.tuned_names import operator_profile
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    expected = expected_tuned(intent, pool)
    if expected is None:
        return not_applicable("the intent asks for nothing beyond its PerformanceProfile")
    own_fields = any(each.kind == expected.kind.name for each in intent.extra)
    if own_fields or view.find(expected.kind, expected.name, expected.namespace) is not None:
        return judge_object(view, expected)
    return _judge_renamed(view, expected, intent)


def _judge_renamed(view: ClusterView, expected: ExpectedObject, intent: Intent) -> CheckJudgement:
    """The closest of those that stand on the operator's profile, whatever they are called."""
    found = list(renamed_patches(view, expected, operator_profile(intent)))
    closest = min(found, key=lambda each: len(each.expected.differences(each.found)), default=None)
    if closest is None:
        return judge_object(view, expected)
    return judge_found(closest.expected, closest.found)


CHECK = ClusterCheck(
    number=106,
    name="tuned-patch",
    title="The Tuned patch is the rendered one, under any name",
    reads=(TUNED,),
    why=(
        "Sysctls, services and boot arguments that the PerformanceProfile has no field for are in "
        "this object; the profile of the highest priority for a node wins."
    ),
    fix="Apply the rendered Tuned object.",
    sources=("openshift/cluster-node-tuning-operator, pkg/apis/tuned/v1",),
    pool_rule=_judge,
)
