"""107: the TuneD profile that each node was given, and whether it took it."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import Judgement, Reading, advice, fail, ok, warn
from plimsoll.tune.expected.tuned import expected_profile
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kube.cluster_check import ClusterCheck
from plimsoll.tune.kube.cluster_view import ClusterView
from plimsoll.tune.kube.kinds import NODE, PROFILE
from plimsoll.tune.kube.kube_object import KubeObject, condition, is_true, name_of, text_at
from plimsoll.tune.kube.object_judgement import judge_each
from plimsoll.tune.kube.pool_nodes import need_pool_nodes
from plimsoll.tune.render.tuned_patch import NAMESPACE


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> Judgement:
    wanted = expected_profile(intent) or ""
    nodes = need_pool_nodes(view, pool)
    return judge_each(
        nodes,
        partial(_judge_node, view, wanted),
        none="the pool has no nodes",
        sound=f"every node of the pool runs the TuneD profile {wanted}",
    )


def _judge_node(view: ClusterView, wanted: str, node: KubeObject) -> Judgement:
    name = name_of(node)
    found = view.find(PROFILE, name, NAMESPACE)
    if found is None:
        return fail(f"node {name} has no Profile", wanted=wanted)
    where = f"Profile {name}"
    given = text_at(found, "spec", "config", "tunedProfile")
    taken = text_at(found, "status", "tunedProfile")
    read = Reading(f"{where} status.tunedProfile", taken or "not set")
    if given != wanted or taken != wanted:
        text = f"node {name} runs {taken or 'no profile'}, and is told to run {given or 'none'}"
        step = advice("check the priorities and matches of the Tuned objects' recommend")
        return fail(text, read, wanted=wanted, steps=[step])
    message = text_at(condition(found, "Degraded"), "message")
    if is_true(found, "Degraded"):
        step = advice(f"read the log of the tuned pod on {name}")
        return warn(f"node {name} has parts of {wanted} only: {message}", read, steps=[step])
    if not is_true(found, "Applied"):
        return fail(f"node {name} has not applied {wanted}", read, wanted="Applied True")
    return ok(f"node {name} runs {wanted}", read)


CHECK = ClusterCheck(
    number=107,
    name="node-profiles",
    title="Every node of the pool runs the intended TuneD profile",
    reads=(NODE, PROFILE),
    why=(
        "The operator recommends one profile a node, by priority; another Tuned object may win. A "
        "node reports what it applied, and which settings it could not."
    ),
    fix="Make the intended profile win on the pool's nodes, and mend what the node reports.",
    sources=("openshift/cluster-node-tuning-operator, pkg/apis/tuned/v1: ProfileStatus",),
    pool_rule=_judge,
)
