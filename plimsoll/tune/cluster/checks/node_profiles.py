"""107: the TuneD profile that each node was given, and whether it took it."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, warn
from plimsoll.tune.cluster.dataplane_pods import need_pool_nodes
from plimsoll.tune.cluster.kinds import NODE, PROFILE, TUNED
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_each
from plimsoll.tune.cluster.tuned_profiles import tuned_profiles
from plimsoll.tune.expected.tuned import expected_profile
from plimsoll.tune.expected.tuned_names import operator_profile
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, condition, is_true, name_of, text_at
from plimsoll.tune.render.openshift.performance_profile import NAMESPACE


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    """A profile that stands on the expected one has all of it; what it changes, 106 judges."""
    expected = expected_profile(intent) or ""
    nodes = need_pool_nodes(view, pool)
    return judge_each(
        nodes,
        partial(_judge_node, view, expected, operator_profile(intent)),
        none="the pool has no nodes",
        sound=f"every node of the pool runs the TuneD profile {expected}",
    )


def _judge_node(
    view: ClusterView, expected: str, operators: str, node: KubeObject
) -> CheckJudgement:
    name = name_of(node)
    found = view.find(PROFILE, name, NAMESPACE)
    if found is None:
        return fail(f"node {name} has no Profile", expected=expected)
    where = f"Profile {name}"
    given = text_at(found, "spec", "config", "tunedProfile")
    taken = text_at(found, "status", "tunedProfile")
    read = Reading(f"{where} status.tunedProfile", taken or "not set")
    if given != taken or not _serves(view, taken, expected, operators):
        text = f"node {name} runs {taken or 'no profile'}, and is assigned {given or 'none'}"
        step = advice("check the priorities and matches of the Tuned objects' recommend")
        return fail(text, read, expected=expected, steps=[step])
    message = text_at(condition(found, "Degraded"), "message")
    if taken != expected:
        expected = f"{taken}, which stands on {operators}"
    if is_true(found, "Degraded"):
        step = advice(f"read the log of the tuned pod on {name}")
        return warn(f"node {name} has parts of {expected} only: {message}", read, steps=[step])
    if not is_true(found, "Applied"):
        return fail(f"node {name} has not applied {expected}", read, expected="Applied True")
    return ok(f"node {name} runs {expected}", read)


def _serves(view: ClusterView, taken: str, expected: str, operators: str) -> bool:
    """Whether it is the expected profile, stands on it, or is that one under another name."""
    if taken == expected:
        return True
    profiles = tuned_profiles(view)
    renamed = expected != operators and expected not in profiles.sections and taken != operators
    return profiles.leads_to(taken, operators if renamed else expected)


CHECK = ClusterCheck(
    number=107,
    name="node-profiles",
    title="Every node of the pool runs the intended TuneD profile",
    reads=(NODE, PROFILE, TUNED),
    why=(
        "The operator recommends one profile a node, by priority; another Tuned object may win. A "
        "node reports what it applied, and which settings it could not."
    ),
    fix="Make the intended profile win on the pool's nodes, and fix what the node reports.",
    sources=("openshift/cluster-node-tuning-operator, pkg/apis/tuned/v1: ProfileStatus",),
    pool_rule=_judge,
)
