"""108: how the cards are to be divided."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement
from plimsoll.tune.cluster.kinds import SRIOV_POLICY
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    judge_object,
)
from plimsoll.tune.cluster.objects.expected_objects import expected_policies
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    expected = expected_policies(intent, pool)
    return judge_each(
        expected,
        partial(judge_object, view),
        none="the intent divides no nic",
        sound=f"as rendered: {abbreviated(each.title for each in expected)}",
    )


CHECK = ClusterCheck(
    number=108,
    name="sriov-policies",
    title="The SriovNetworkNodePolicies are the rendered ones",
    reads=(SRIOV_POLICY,),
    why=(
        "A policy says how many functions a port has, which driver they get and the name under "
        "which pods ask for them."
    ),
    fix="Apply the rendered policies; the SR-IOV operator may drain and restart nodes.",
    sources=("k8snetworkplumbingwg/sriov-network-operator, api/v1",),
    pool_rule=_judge,
)
